//! `wsmeter new URL`: a commented plan to start from, and the schema beside it.

use std::io;
use std::path::{Path, PathBuf};

use fs_err::OpenOptions;

use crate::cli::args::NewArguments;
use crate::cli::error::CliError;
use crate::console::Console;
use crate::net::{Url, UrlError, is_secret, password, user_info};
use crate::plan;

/// The schema's name, as the plan's first line gives it to editors.
const SCHEMA: &str = "plan.schema.json";

/// The plan, with `{…}` for what depends on the URL.
const PLAN: &str = include_str!("new/plan.yaml");

/// Why no plan was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    /// The URL is none of a WebSocket server.
    #[error("{what}")]
    Url {
        /// What is wrong with it.
        what: String,
        /// How to mend it.
        help: Option<String>,
    },
    /// There is a file already.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file system said no; the text names the path.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl NewError {
    /// How to mend it.
    pub(crate) fn help(&self) -> Option<&str> {
        match self {
            Self::Url { help, .. } => help.as_deref(),
            Self::Exists { .. } => {
                Some("choose another name with `-o`, or overwrite it with `--force`")
            }
            Self::Io(_) => None,
        }
    }
}

/// Writes the plan and the schema; says what to do next.
pub(crate) fn new(console: Console, arguments: &NewArguments) -> Result<u8, CliError> {
    let (plan, host) = plan_for(&arguments.url)?;
    let path = arguments.output.clone().unwrap_or_else(|| format!("{host}.yaml").into());
    let schema = path.with_file_name(SCHEMA);
    let plan = plan.replace("{file}", &path.display().to_string());
    write(&path, &plan, arguments.force)?;
    // It is the same for all plans of this version: one that is there may be an older one.
    write(&schema, &plan::schema(), true)?;
    let (path, schema) = (path.display(), schema.display());
    console.data(&format!(
        "wrote {path}, and {schema} for editors\n\n  wsmeter try {path}     shows every frame of one pass\n  \
         wsmeter run {path}     runs it, and writes the results\n"
    )).map_err(CliError::Print)?;
    Ok(0)
}

/// The plan for a URL, and the host as a name for a file.
fn plan_for(text: &str) -> Result<(String, String), NewError> {
    let bad = |UrlError { what, help }| NewError::Url { what, help };
    let url = Url::parse(text, None).map_err(bad)?;
    let (address, path) = split(text);
    let (path, properties) = without_secrets(path);
    // As `basic_auth` would: given with `-J`.
    let address = match (password(address), user_info(address)) {
        (Some(password), Some(user_info)) => {
            let start = user_info.end - password.len();
            format!("{}${{__P(password)}}{}", &address[..start], &address[user_info.end..])
        }
        _ => address.to_owned(),
    };
    let name = |one: char| if one.is_ascii_alphanumeric() { one } else { '-' };
    let host: String = url.host.chars().map(name).collect();
    let host = host.trim_matches('-').to_owned();
    let plan = PLAN
        .replace("{host}", &url.host)
        .replace("{url}", &quoted(&address))
        .replace("{path}", &quoted(&path))
        .replace("{properties}\n", &properties);
    Ok((plan, host))
}

/// Scheme, host and port; and path with query.
fn split(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    match url[start..].find(['/', '?']) {
        Some(at) => url.split_at(start + at),
        None => (url, "/"),
    }
}

/// A path whose secret query values are properties, and a comment that says how to give them.
fn without_secrets(path: &str) -> (String, String) {
    let Some((path, query)) = path.split_once('?') else { return (path.to_owned(), String::new()) };
    let mut names = Vec::new();
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => {
            names.push(name.to_owned());
            format!("{name}=${{__P({name})}}")
        }
        _ => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(pair).collect();
    let given: Vec<String> = names.iter().map(|name| format!("-J {name}=…")).collect();
    let comment = match given.as_slice() {
        [] => String::new(),
        given => format!(
            "# Give its secrets on the command line, not in this file: {}\n",
            given.join(" ")
        ),
    };
    (format!("{path}?{}", query.join("&")), comment)
}

/// As a text of YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), NewError> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let mut file = options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => NewError::Exists { path: path.to_owned() },
        _ => NewError::Io(error),
    })?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_are_told_apart() {
        assert_eq!(split("ws://h:9000/a?b=c"), ("ws://h:9000", "/a?b=c"));
        assert_eq!(split("ws://h?b=c"), ("ws://h", "?b=c"));
        assert_eq!(split("ws://[::1]:80"), ("ws://[::1]:80", "/"));
    }

    #[test]
    fn secrets_of_a_query_stay_out_of_the_file() {
        let (path, comment) = without_secrets("/chat?room=a&access_token=s3cr3t");
        assert_eq!(path, "/chat?room=a&access_token=${__P(access_token)}");
        assert!(comment.contains("-J access_token=…"), "{comment}");
        assert_eq!(without_secrets("/chat?room=a"), ("/chat?room=a".to_owned(), String::new()));
    }
}
