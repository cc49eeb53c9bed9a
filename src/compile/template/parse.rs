//! The grammar of `${…}`.
//!
//! Outside `${…}` only `\${` is an escape; every other backslash is literal. `${name}` is a variable,
//! `${__fn(a, b)}` a call, `()` may be left out. Within arguments `\,` `\)` `\}` are escapes, blanks
//! round an argument are cut, `"…"` keeps them (and `\"` is a quote there); `${…}` may nest.

/// Levels of `${…}` within each other.
const MAX_DEPTH: usize = 16;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Literal text, escapes undone.
    Text(String),
    /// `${…}`
    Expression(Expression),
}

/// One `${…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    /// Byte offset of its `${` in the whole text.
    pub(super) start: usize,
    /// Bytes up to and with its `}`.
    pub(super) length: usize,
    pub(super) content: Content,
}

/// What stands in `${…}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Variable(String),
    Call { name: String, arguments: Vec<Argument> },
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// As written, blanks cut.
    pub(super) source: String,
    pub(super) pieces: Vec<Piece>,
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) title: String,
    pub(super) help: String,
}

/// Takes a text apart.
pub(super) fn parse(text: &str) -> Result<Vec<Piece>, SyntaxError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let mut pieces = Pieces::default();
    while let Some(c) = parser.peek() {
        if parser.eat("\\${") {
            pieces.text("${");
        } else if parser.rest().starts_with("${") {
            pieces.expression(parser.expression()?);
        } else {
            pieces.char(c);
            parser.at += c.len_utf8();
        }
    }
    Ok(pieces.finish())
}

/// Collects pieces, joining text.
#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    text: String,
}

impl Pieces {
    fn char(&mut self, c: char) {
        self.text.push(c);
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn expression(&mut self, expression: Expression) {
        self.flush();
        self.done.push(Piece::Expression(expression));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        self.flush();
        self.done
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn error(&self, start: usize, title: impl Into<String>, help: &str) -> SyntaxError {
        let length = self.at.saturating_sub(start).max(1);
        SyntaxError { start, length, title: title.into(), help: help.to_owned() }
    }

    /// At `${`.
    fn expression(&mut self) -> Result<Expression, SyntaxError> {
        let start = self.at;
        self.at += 2;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(start, "`${` nests more than 16 levels deep", "use a variable"));
        }
        self.skip_blanks();
        let content = if self.rest().starts_with("__") {
            self.call(start)?
        } else {
            Content::Variable(self.variable(start)?)
        };
        self.depth -= 1;
        Ok(Expression { start, length: self.at - start, content })
    }

    /// A variable's name and the `}`.
    fn variable(&mut self, start: usize) -> Result<String, SyntaxError> {
        let name_start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        let name = self.text[name_start..self.at].to_owned();
        self.skip_blanks();
        match self.peek() {
            Some('}') if !name.is_empty() => {
                self.at += 1;
                Ok(name)
            }
            Some('}') => {
                self.at += 1;
                Err(self.error(start, "`${}` names no variable", "write `\\${` for a literal `${`"))
            }
            None => Err(unclosed(start)),
            Some('(') => Err(self.error(
                start,
                format!("`{name}` is not a function"),
                "functions begin with `__`; write `\\${` for a literal `${`",
            )),
            Some(c) => Err(self.error(
                start,
                if self.text[..self.at].ends_with(char::is_whitespace) && !name.is_empty() {
                    "a variable's name cannot hold a blank".to_owned()
                } else {
                    format!("a variable's name cannot hold `{c}`")
                },
                "close it with `}`, or write `\\${` for a literal `${`",
            )),
        }
    }

    /// A function's name, its arguments and the `}`.
    fn call(&mut self, start: usize) -> Result<Content, SyntaxError> {
        let name_start = self.at;
        while self.peek().is_some_and(is_name) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
        let name = self.text[name_start..self.at].to_owned();
        self.skip_blanks();
        let arguments = if self.eat("(") { self.arguments(start)? } else { Vec::new() };
        self.skip_blanks();
        match self.peek() {
            Some('}') => {
                self.at += 1;
                Ok(Content::Call { name, arguments })
            }
            None => Err(unclosed(start)),
            Some(c) => Err(self.error(
                start,
                format!("`{c}` where `}}` should close `${{{name}`"),
                "within arguments write `\\)` for a parenthesis",
            )),
        }
    }

    /// Behind `(`, up to and with `)`.
    fn arguments(&mut self, start: usize) -> Result<Vec<Argument>, SyntaxError> {
        let mut arguments = Vec::new();
        self.skip_blanks();
        if self.eat(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument(start)?);
            if self.eat(")") {
                return Ok(arguments);
            }
            // An argument ends at a comma or a parenthesis.
            self.at += 1;
        }
    }

    fn argument(&mut self, start: usize) -> Result<Argument, SyntaxError> {
        self.skip_blanks();
        let source_start = self.at;
        let pieces = if self.rest().starts_with('"') {
            let pieces = self.quoted()?;
            self.skip_blanks();
            if !self.rest().starts_with([',', ')']) {
                return Err(match self.peek() {
                    None => unclosed(start),
                    Some(c) => self.error(
                        source_start,
                        format!("`{c}` behind the quotes of an argument"),
                        "quotes go round a whole argument",
                    ),
                });
            }
            pieces
        } else {
            self.bare(start)?
        };
        let source = self.text[source_start..self.at].trim_end().to_owned();
        Ok(Argument { source, pieces })
    }

    /// An argument in quotes, at the first of them.
    fn quoted(&mut self) -> Result<Vec<Piece>, SyntaxError> {
        let quote = self.at;
        self.at += 1;
        let mut pieces = Pieces::default();
        loop {
            match self.peek() {
                None => {
                    self.at = quote + 1;
                    return Err(self.error(quote, "the quotes are not closed", "add a `\"`"));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(pieces.finish());
                }
                Some(c) => self.within(&mut pieces, c, "\"")?,
            }
        }
    }

    /// An argument without quotes; ends at `,` or `)`.
    fn bare(&mut self, start: usize) -> Result<Vec<Piece>, SyntaxError> {
        let mut pieces = Pieces::default();
        // How much of the text read last is kept even if it is blank.
        let mut kept = 0;
        loop {
            match self.peek() {
                None => return Err(unclosed(start)),
                Some(',' | ')') => break,
                Some('}') => {
                    self.at += 1;
                    return Err(self.error(
                        start,
                        "the arguments are not closed",
                        "put `)` before `}`; within arguments write `\\}` for a brace",
                    ));
                }
                Some(c) => {
                    self.within(&mut pieces, c, "")?;
                    if !c.is_whitespace() {
                        kept = pieces.text.len();
                    }
                }
            }
        }
        pieces.text.truncate(kept);
        Ok(pieces.finish())
    }

    /// One character, escape or expression of an argument.
    fn within(&mut self, pieces: &mut Pieces, c: char, escaped: &str) -> Result<(), SyntaxError> {
        if self.rest().starts_with("${") {
            pieces.expression(self.expression()?);
            return Ok(());
        }
        if self.eat("\\${") {
            pieces.text("${");
            return Ok(());
        }
        let mut rest = self.rest().chars();
        if let (Some('\\'), Some(next)) = (rest.next(), rest.next())
            && (matches!(next, ',' | ')' | '}') || escaped.contains(next))
        {
            self.at += 2;
            pieces.char(next);
            return Ok(());
        }
        pieces.char(c);
        self.at += c.len_utf8();
        Ok(())
    }
}

fn unclosed(start: usize) -> SyntaxError {
    SyntaxError {
        start,
        length: 2,
        title: "`${` is not closed".to_owned(),
        help: "close it with `}`, or write `\\${` for these two characters".to_owned(),
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces on one line: variables as `<name>`, calls as `<name a|b>`.
    fn shown(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Expression(Expression { content: Content::Variable(name), .. }) => {
                    format!("<{name}>")
                }
                Piece::Expression(Expression {
                    content: Content::Call { name, arguments },
                    ..
                }) => {
                    let arguments: Vec<String> =
                        arguments.iter().map(|argument| shown(&argument.pieces)).collect();
                    format!("<{name} {}>", arguments.join("|"))
                }
            })
            .collect()
    }

    #[test]
    fn texts_variables_and_calls_are_told_apart() {
        for (text, expected) in [
            ("", ""),
            ("plain $ {x} }", "plain $ {x} }"),
            ("a${b}c${ d.e-1 }", "a<b>c<d.e-1>"),
            (r"\${a} \n \\ ${b}", r"${a} \n \\ <b>"),
            (r"\\${a}", r"\${a}"),
            ("${__UUID}${__UUID()}${__UUID( )}", "<__UUID ><__UUID ><__UUID >"),
            ("${__P( a , b c )}", "<__P a|b c>"),
            ("${__P(a,)}${__P(,)}", "<__P a|><__P |>"),
            (r"${__P(a\,b\)c\}d, \x)}", r"<__P a,b)c}d|\x>"),
            (r#"${__P(" a, (b)} \" ", x"y)}"#, r#"<__P  a, (b)} " |x"y>"#),
            ("${__P(t, ws://${h}:${__P(p, 1)} )}", "<__P t|ws://<h>:<__P p|1>>"),
            (r"${__P(a, \${b)}", "<__P a|${b>"),
            ("日${本}語", "日<本>語"),
        ] {
            assert_eq!(parse(text).map(|pieces| shown(&pieces)), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        for (text, start, title) in [
            ("ab${c", 2, "`${` is not closed"),
            ("é${c d}", 2, "a variable's name cannot hold a blank"),
            ("x${}", 1, "`${}` names no variable"),
            ("${f(x)}", 0, "`f` is not a function"),
            ("${__P(a}", 0, "the arguments are not closed"),
            ("${__P(a", 0, "`${` is not closed"),
            ("${__P(a)b}", 0, "`b` where `}` should close `${__P`"),
            ("${__P(\"a)}", 6, "the quotes are not closed"),
            ("${__P(\"a\" b)}", 6, "`b` behind the quotes of an argument"),
            ("a ${__P(x, ${y)}", 11, "a variable's name cannot hold `)`"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.start, error.title.as_str()), (start, title), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let text = "${__P(".repeat(100_000);
        assert!(parse(&text).unwrap_err().title.contains("16 levels"));
    }
}
