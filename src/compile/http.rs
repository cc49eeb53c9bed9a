//! `http`: its own settings over those of `open` where it stands.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::opening::{CONNECT_TIMEOUT, MAX_MESSAGE_SIZE};
use crate::compile::sampler::Place;
use crate::compile::scope::ConnectingSettings;
use crate::net::Url;
use crate::plan::{self, At, Entries, Json, Path, Problem, Text, TextOr};
use crate::program::{
    Body, Http, Method, Part, Payload, SamplerKind, Setting, Template, constant_json,
};

impl Compiler<'_> {
    pub(super) fn http(&mut self, own: &plan::Http, place: &Place<'_>) -> Option<SamplerKind> {
        let path = &place.path;
        let mut settings = place.scope.connecting.clone();
        let written = ConnectingSettings {
            connect_timeout: own.connect_timeout.as_ref(),
            tls: own.tls.as_ref(),
            headers: own.headers.as_ref(),
            cookies: own.cookies.as_ref(),
            origin: own.origin.as_ref(),
            basic_auth: own.basic_auth.as_ref(),
            follow_redirects: own.follow_redirects.as_ref(),
            max_message_size: own.max_message_size.as_ref(),
            ..ConnectingSettings::default()
        };
        self.connecting(&mut settings, &written, path);
        let url = self.http_address(own, settings.url, path);
        let own_path = match &own.path {
            Some(written) => Some(self.path(written, &path.key("path"))?),
            None => None,
        };
        let body = own.body.as_ref().map(|body| self.body(body, &path.key("body")));
        let method = match &own.method {
            Some(method) => self.setting(method, &path.key("method")),
            None if body.is_some() => Some(Setting::Fixed(Method::Post)),
            None => Some(Setting::Fixed(Method::Get)),
        };
        let body = match body {
            Some(body) => Some(body?),
            None => None,
        };
        let url = url?;
        let tls = self.resolve_tls(settings.tls, &url, &settings.head, path);
        Some(SamplerKind::Http(Box::new(Http {
            url,
            tls,
            path: own_path,
            method: method?,
            head: settings.head,
            body,
            connect_timeout: settings
                .connect_timeout
                .unwrap_or(Setting::<Duration>::Fixed(CONNECT_TIMEOUT)),
            max_message_size: settings.max_message_size.unwrap_or(Setting::Fixed(MAX_MESSAGE_SIZE)),
        })))
    }

    /// Its own address, or that of the connections around with a path of its own.
    fn http_address(
        &mut self,
        own: &plan::Http,
        inherited: Option<Template>,
        path: &Path,
    ) -> Option<Template> {
        if let Some(url) = &own.url {
            return self.http_url(url, &path.key("url"));
        }
        let help = match (inherited, &own.path) {
            (Some(url), Some(_)) => return Some(url),
            (Some(_), None) => "write what to ask for, such as `path: /login`",
            (None, _) if self.url_failed() => return None,
            (None, _) => "give it here, such as `url: http://127.0.0.1:9000/login`",
        };
        let what = if own.path.is_some() { "`url`" } else { "`url` or `path`" };
        let problem = Problem::error(path, format!("`http` has no {what}")).at(At::Key);
        self.note(problem.help(help));
        None
    }

    /// `url`: its beginning must be right even if more of it is only known in the run.
    fn http_url(&mut self, setting: &plan::Setting<Text>, path: &Path) -> Option<Template> {
        let template = self.text(setting, path)?;
        self.secrets.remember_url(template.as_constant().unwrap_or_default());
        let parsed = match (template.as_constant(), template.parts.first()) {
            (Some(url), _) => Url::parse_http(url, None),
            (None, Some(Part::Text(start))) if start.contains("://") => {
                // Whatever follows, the scheme must be one of those.
                let scheme = start.split("://").next().unwrap_or_default();
                Url::parse_http(&format!("{scheme}://h/"), None)
            }
            _ => return Some(template),
        };
        match parsed {
            Ok(_) => Some(template),
            Err(error) => {
                let problem = Problem::error(path, error.what);
                self.note(match error.help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
                None
            }
        }
    }

    /// `body` at `path`; `None` where it is wrong.
    fn body(&mut self, body: &TextOr<plan::Body>, path: &Path) -> Option<Body> {
        let own = match body {
            TextOr::Text(text) => return self.send(text, path).map(Body::Text),
            TextOr::Settings(own) => own,
        };
        let given = [
            ("text", own.text.is_some()),
            ("json", own.json.is_some()),
            ("form", own.form.is_some()),
            ("file", own.file.is_some()),
        ];
        let mut given = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key);
        let Some(key) = given.next() else {
            let problem = Problem::error(path, "`body` is empty").at(At::Key);
            self.note(problem.help("give `text`, `json`, `form` or `file`, or leave `body` out"));
            return None;
        };
        if let Some(second) = given.next() {
            let title = format!("a request has one body, found `{key}` and `{second}`");
            let problem = Problem::error(&path.key(second), title).at(At::Key);
            self.note(problem.help("remove one of them"));
            return None;
        }
        let path = path.key(key);
        if let Some(text) = &own.text {
            return self.send(text, &path).map(Body::Text);
        }
        if let Some(json) = &own.json {
            return self.json_body(json, &path).map(Body::Json);
        }
        if let Some(form) = &own.form {
            return self.form(form, &path).map(Body::Form);
        }
        self.send_file(own.file.as_ref()?, &path).map(Body::File)
    }

    fn json_body(&mut self, json: &Json, path: &Path) -> Option<Payload> {
        let parts = self.json(json, path)?;
        self.secrets.remember_body(constant_json(&parts).as_bytes());
        Some(Payload::Json(parts))
    }

    fn form(
        &mut self,
        form: &Entries<plan::Setting<Text>>,
        path: &Path,
    ) -> Option<Vec<(String, Template)>> {
        let mut fields = Vec::with_capacity(form.0.len());
        for (name, value) in &form.0 {
            let value = self.text(value, &path.key(name.clone()));
            let constant = value.as_ref().and_then(Template::as_constant);
            if let Some(value) = constant {
                self.secrets.remember_field(name, value);
            }
            fields.extend(value.map(|value| (name.clone(), value)));
        }
        (fields.len() == form.0.len()).then_some(fields)
    }
}
