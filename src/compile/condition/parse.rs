//! The grammar of conditions, from loose to tight: `or`, `and`, `not`, one comparison.
//!
//! ```text
//! any     = all { "or" all }
//! all     = one { "and" one }
//! one     = "not" one | "(" any ")" | "defined" "(" name ")" | operand [ comparison operand | [ "not" ] "in" list ]
//! operand = name | number | quoted text
//! list    = "[" operand { "," operand } "]"
//! ```

use crate::compile::condition::Wrong;
use crate::compile::condition::lex::{Placed, Token, tokens};
use crate::program::Comparison;

/// Parentheses and `not`s within each other.
const MAX_DEPTH: usize = 32;

/// Words that are no names.
const WORDS: [&str; 5] = ["and", "or", "not", "in", "defined"];

/// What a condition says, before its names are looked up.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
    Compare(Operand, Comparison, Operand),
    In(Operand, Vec<Operand>),
    Defined(Operand),
    Truth(Operand),
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) value: Value,
    pub(super) start: usize,
    pub(super) length: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Name(String),
    Number(String),
    Text(String),
}

/// Reads a condition.
pub(super) fn parse(text: &str) -> Result<Node, Wrong> {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err(Wrong::new(0, text.len().max(1), "the condition is empty")
            .help("write `x == 1`, or leave out what it stands for"));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, end: text.trim_end().len(), depth: 0 };
    let node = parser.any()?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some(placed) => Err(parser.left_over(placed)),
    }
}

struct Parser<'t> {
    tokens: &'t [Placed],
    at: usize,
    /// Where the text ends.
    end: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn eat(&mut self, wanted: &Token) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, wanted: &str) -> bool {
        let found = self.is_word(0, wanted);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, ahead: usize, wanted: &str) -> bool {
        let token = self.tokens.get(self.at + ahead).map(|placed| &placed.token);
        matches!(token, Some(Token::Word(word)) if word == wanted)
    }

    /// The place of what comes next, or the end.
    fn here(&self) -> (usize, usize) {
        match self.tokens.get(self.at) {
            Some(placed) => (placed.start, placed.length),
            None => (self.end.saturating_sub(1), 1),
        }
    }

    fn wrong(&self, title: impl Into<String>, help: &str) -> Wrong {
        let (start, length) = self.here();
        Wrong::new(start, length, title).help(help)
    }

    fn any(&mut self) -> Result<Node, Wrong> {
        let mut nodes = vec![self.all()?];
        while self.eat_word("or") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, Wrong> {
        let mut nodes = vec![self.one()?];
        while self.eat_word("and") {
            nodes.push(self.one()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn one(&mut self) -> Result<Node, Wrong> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.wrong("the condition nests more than 32 levels deep", "make it simpler")
            );
        }
        let node = if self.eat_word("not") {
            Node::Not(Box::new(self.one()?))
        } else if self.eat(&Token::Open) {
            let inside = self.any()?;
            if !self.eat(&Token::Close) {
                return Err(self.wrong("a parenthesis is not closed", "add a `)`"));
            }
            inside
        } else if self.is_word(0, "defined") {
            self.defined()?
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn defined(&mut self) -> Result<Node, Wrong> {
        const HELP: &str = "write `defined(name)`";
        self.at += 1;
        if !self.eat(&Token::Open) {
            return Err(self.wrong("`defined` needs a name in parentheses", HELP));
        }
        let (start, length) = self.here();
        let operand = self.operand()?;
        if !matches!(operand.value, Value::Name(_)) {
            let title = "`defined` asks for the name of a variable";
            return Err(Wrong::new(start, length, title).help(HELP));
        }
        if !self.eat(&Token::Close) {
            return Err(self.wrong("a parenthesis is not closed", "add a `)`"));
        }
        Ok(Node::Defined(operand))
    }

    fn comparison(&mut self) -> Result<Node, Wrong> {
        let left = self.operand()?;
        if let Some(Token::Comparison(comparison)) = self.peek() {
            self.at += 1;
            let right = self.operand()?;
            if let Some(Token::Comparison(_)) = self.peek() {
                return Err(self.wrong(
                    "a comparison has two sides",
                    "join comparisons with `and`: `1 < x and x < 5`",
                ));
            }
            return Ok(Node::Compare(left, *comparison, right));
        }
        if self.eat_word("in") {
            return Ok(Node::In(left, self.list()?));
        }
        if self.is_word(0, "not") && self.is_word(1, "in") {
            self.at += 2;
            return Ok(Node::Not(Box::new(Node::In(left, self.list()?))));
        }
        Ok(Node::Truth(left))
    }

    fn list(&mut self) -> Result<Vec<Operand>, Wrong> {
        const HELP: &str = "write `x in [1, 2, \"three\"]`";
        if !self.eat(&Token::OpenList) {
            return Err(self.wrong("`in` needs a list", HELP));
        }
        let mut operands = vec![self.operand()?];
        while self.eat(&Token::Comma) {
            operands.push(self.operand()?);
        }
        if !self.eat(&Token::CloseList) {
            return Err(self.wrong("the list is not closed", HELP));
        }
        Ok(operands)
    }

    fn operand(&mut self) -> Result<Operand, Wrong> {
        let Some(Placed { token, start, length }) = self.tokens.get(self.at) else {
            return Err(self.wrong("the condition ends too early", "write `x == 1`"));
        };
        let value = match token {
            Token::Word(word) if WORDS.contains(&word.as_str()) => {
                return Err(self.wrong(
                    format!("`{word}` where a name, a number or a text should be"),
                    "put texts into quotes: `\"…\"`",
                ));
            }
            Token::Word(word) => Value::Name(word.clone()),
            Token::Number(number) => Value::Number(number.clone()),
            Token::Quoted(text) => Value::Text(text.clone()),
            _ => {
                return Err(
                    self.wrong("a name, a number or a text is missing here", "write `x == 1`")
                );
            }
        };
        self.at += 1;
        Ok(Operand { value, start: *start, length: *length })
    }

    /// The error for what comes behind a whole condition.
    fn left_over(&self, placed: &Placed) -> Wrong {
        match &placed.token {
            Token::Close => self.wrong("a parenthesis was not opened", "remove the `)`"),
            Token::Number(number) if number.starts_with(['-', '+']) => self
                .wrong("conditions compare, they do not calculate", "compute it with a function"),
            Token::Word(word)
                if word.eq_ignore_ascii_case("and") || word.eq_ignore_ascii_case("or") =>
            {
                self.wrong(format!("`{word}` is written small"), "write `and`, `or`, `not`, `in`")
            }
            _ => self.wrong(
                "the condition ends before this",
                "join conditions with `and` or `or`; put texts into quotes",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(operand: &Operand) -> String {
        match &operand.value {
            Value::Name(name) => name.clone(),
            Value::Number(number) => format!("#{number}"),
            Value::Text(text) => format!("'{text}'"),
        }
    }

    /// A condition with all its parentheses.
    fn shown(node: &Node) -> String {
        let all = |nodes: &[Node], word: &str| {
            let nodes: Vec<String> = nodes.iter().map(shown).collect();
            format!("({})", nodes.join(word))
        };
        match node {
            Node::Any(nodes) => all(nodes, " | "),
            Node::All(nodes) => all(nodes, " & "),
            Node::Not(node) => format!("!{}", shown(node)),
            Node::Compare(left, comparison, right) => {
                format!("{} {comparison:?} {}", value(left), value(right))
            }
            Node::In(left, list) => {
                let list: Vec<String> = list.iter().map(value).collect();
                format!("{} in {}", value(left), list.join(","))
            }
            Node::Defined(name) => format!("?{}", value(name)),
            Node::Truth(operand) => value(operand),
        }
    }

    #[test]
    fn and_binds_tighter_than_or_and_not_tighter_than_both() {
        for (text, expected) in [
            ("a or b and not c or d", "(a | (b & !c) | d)"),
            ("(a or b) and c", "((a | b) & c)"),
            ("not a == 1", "!a Equal #1"),
            ("not (a and b)", "!(a & b)"),
            ("x not in [1, 'b', c] and y in [2]", "(!x in #1,'b',c & y in #2)"),
            ("defined(x) and x >= -1.5", "(?x & x AtLeast #-1.5)"),
            ("websocket.last-frame_1!=\"it's\"", "websocket.last-frame_1 Unequal 'it's'"),
            ("a<1 and b>2 and c<=3", "(a Below #1 & b Above #2 & c AtMost #3)"),
            ("x == 1e+3 or x == .5 or x == +1", "(x Equal #1e+3 | x Equal #.5 | x Equal #+1)"),
            ("größe == 'ü'", "größe Equal 'ü'"),
        ] {
            assert_eq!(parse(text).map(|node| shown(&node)), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn errors_point_at_what_is_wrong() {
        for (text, part, title) in [
            ("", "", "the condition is empty"),
            ("x = 1", "=", "`=` is no operator"),
            ("x && y", "&&", "`&&` is no operator"),
            ("!x", "!", "`!` is no operator"),
            ("x <> 1", "<>", "`<>` is no operator"),
            ("x => 1", "=>", "`=>` is no operator"),
            ("x / 0 == 1", "/", "a condition cannot hold `/`"),
            ("x -1 == 1", "-1", "conditions compare, they do not calculate"),
            ("ü == 5ms", "5ms", "`5ms` is neither a number nor a name"),
            ("x == ", "=", "the condition ends too early"),
            ("x == 'a", "'", "the quotes are not closed"),
            ("(x == 1", "1", "a parenthesis is not closed"),
            ("x == 1)", ")", "a parenthesis was not opened"),
            ("1 < x < 5", "<", "a comparison has two sides"),
            ("x in 1", "1", "`in` needs a list"),
            ("x in [1", "1", "the list is not closed"),
            ("x in []", "]", "a name, a number or a text is missing here"),
            ("x y", "y", "the condition ends before this"),
            ("x == 1 AND y", "AND", "`AND` is written small"),
            ("defined x", "x", "`defined` needs a name in parentheses"),
            ("defined('x')", "'x'", "`defined` asks for the name of a variable"),
            ("x == and", "and", "`and` where a name, a number or a text should be"),
            ("a == ${t}", "${t}", "a condition names variables without `${`"),
            ("'${t}' == 1", "${t}", "a condition names variables without `${`"),
            ("${__P(x)} == 1", "${__P(x)}", "a condition cannot call functions"),
        ] {
            let wrong = parse(text).unwrap_err();
            let found = text.get(wrong.start..wrong.start + wrong.length).unwrap_or_default();
            assert_eq!((found, wrong.title.as_str()), (part, title), "{text}");
            assert!(wrong.help.is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_a_condition_or_an_error_within_the_text(
            text in r#"([\PC\n]|and |or |not |in |defined\(|[()\[\],"'=<>!$\{}.+0-9e -]){0,12}"#,
        ) {
            if let Err(wrong) = parse(&text) {
                prop_assert!(wrong.start <= text.len(), "{wrong:?}");
                prop_assert!(wrong.start + wrong.length <= text.len().max(1), "{wrong:?}");
            }
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        for text in ["(".repeat(100_000), "not ".repeat(100_000)] {
            assert!(parse(&text).unwrap_err().title.contains("32 levels"));
        }
    }
}
