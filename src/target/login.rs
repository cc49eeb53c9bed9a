//! Logging in: a name and a password for a token and a cookie, which another path asks for.
//!
//! Both hold the name and a number that only this server can make of it, so that nothing is stored.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};

use crate::target::request::Request;

/// The name of the cookie.
const COOKIE: &str = "session";

/// What makes the numbers; another one for each server.
#[derive(Debug, Default)]
pub(super) struct Logins(RandomState);

/// What a login gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Login {
    /// JSON with the name and the token.
    pub(super) body: String,
    /// The value of `Set-Cookie`.
    pub(super) set_cookie: String,
}

impl Logins {
    /// Takes any name with any password, from a form or from JSON; `None` without.
    pub(super) fn login(&self, body: &[u8]) -> Option<Login> {
        let field = |name: &str| match serde_json::from_slice::<Value>(body) {
            Ok(json) => json[name].as_str().map(str::to_owned),
            Err(_) => form_field(body, name),
        };
        let user = field("user").filter(|user| is_name(user))?;
        field("password").filter(|password| !password.is_empty())?;
        let token = self.sign("token", &user);
        let body = json!({ "user": user, "token": token }).to_string();
        let session = self.sign(COOKIE, &user);
        Some(Login { body, set_cookie: format!("{COOKIE}={session}; Path=/; HttpOnly") })
    }

    /// Who asks, by the cookie or else by the token.
    pub(super) fn user<'r>(&self, request: &'r Request) -> Option<&'r str> {
        let pairs = request.cookies.iter().flat_map(|line| line.split(';'));
        let by_cookie = pairs
            .filter_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
            .find_map(|value| self.signed(COOKIE, value));
        by_cookie.or_else(|| {
            let token = request.authorization.as_deref()?.strip_prefix("Bearer ")?;
            self.signed("token", token)
        })
    }

    fn sign(&self, what: &str, user: &str) -> String {
        format!("{user}.{:016x}", self.0.hash_one((what, user)))
    }

    fn signed<'t>(&self, what: &str, text: &'t str) -> Option<&'t str> {
        let (user, _) = text.rsplit_once('.')?;
        (self.sign(what, user) == text).then_some(user)
    }
}

/// A name that needs no escapes anywhere.
fn is_name(user: &str) -> bool {
    (1..=64).contains(&user.len())
        && user.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '.'))
}

fn form_field(body: &[u8], name: &str) -> Option<String> {
    let found = url::form_urlencoded::parse(body).find(|(known, _)| known == name);
    found.map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> Request {
        let head = format!("GET /private HTTP/1.1\r\n{head}\r\n\r\n");
        crate::target::request::parse(head.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_login_gives_a_cookie_and_a_token_that_say_who_asks() {
        let logins = Logins::default();
        for body in [&br#"{"user":"bob","password":"x"}"#[..], b"password=a%20b&user=bob"] {
            let login = logins.login(body).unwrap();
            let json: Value = serde_json::from_str(&login.body).unwrap();
            let cookie = login.set_cookie.split(';').next().unwrap();
            let token = json["token"].as_str().unwrap();
            for head in [format!("Cookie: a=b; {cookie}"), format!("Authorization: Bearer {token}")]
            {
                assert_eq!(logins.user(&request(&head)), Some("bob"), "{head}");
            }
            let swapped = format!("Authorization: Bearer {}", cookie.split_once('=').unwrap().1);
            assert_eq!(logins.user(&request(&swapped)), None);
            assert_eq!(Logins::default().user(&request(&format!("Cookie: {cookie}"))), None);
        }
    }

    #[test]
    fn nobody_logs_in_without_name_or_password() {
        for body in ["", "user=bob", "user=bob&password=", "user=a+b&password=x", "{\"user\":1}"] {
            assert_eq!(Logins::default().login(body.as_bytes()), None, "{body}");
        }
    }
}
