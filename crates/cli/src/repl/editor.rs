//! The line editor of the prompt: lines go on until the form is closed, TAB completes, matching
//! brackets are shown, and what was typed is kept from session to session.

use super::balance;
use super::completion::Names;
use crate::configuration::{Variables, folder_of};
use rung_lisp::debugger::Line;
use rustyline::completion::Completer;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::highlight::{Highlighter, MatchingBracketHighlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Context, Editor, Helper};
use std::borrow::Cow;
use std::path::PathBuf;

/// Lines of the prompt that are kept.
const HISTORY: usize = 10_000;

/// The editor with its history file.
pub struct Input {
    editor: Editor<Assistant, FileHistory>,
    history: Option<PathBuf>,
}

struct Assistant {
    names: Names,
    brackets: MatchingBracketHighlighter,
    colors: bool,
}

impl Input {
    /// An editor with the lines of earlier sessions. Without a home there is no history.
    pub fn new(variables: &Variables, colors: bool) -> Result<Input, String> {
        let config = Config::builder()
            .max_history_size(HISTORY)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(|error| error.to_string())?
            .completion_type(CompletionType::List)
            .auto_add_history(false)
            .build();
        let lines = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, lines).map_err(|error| error.to_string())?;
        let brackets = MatchingBracketHighlighter::new();
        editor.set_helper(Some(Assistant { names: Names::default(), brackets, colors }));
        let history = history_file(variables);
        if let Some(file) = &history {
            // A first session has none.
            let _ = editor.load_history(file);
        }
        Ok(Input { editor, history })
    }

    /// Whether lines are kept.
    pub fn remembers(&self) -> bool {
        self.history.is_some()
    }

    /// One form or more; the prompt stands before the first line.
    pub fn read(&mut self, prompt: &str, names: Names) -> Line {
        if let Some(assistant) = self.editor.helper_mut() {
            assistant.names = names;
        }
        match self.editor.readline(prompt) {
            Ok(text) => {
                self.remember(&text);
                Line::Text(text)
            }
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(ReadlineError::Eof) => Line::End,
            Err(error) => Line::Failed(error.to_string()),
        }
    }

    fn remember(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let _ = self.editor.add_history_entry(text);
        if let Some(file) = &self.history {
            // Written at once, so that a killed session keeps its lines; a full disk is no
            // reason to stop.
            let _ = self.editor.append_history(file);
        }
    }
}

/// `$XDG_STATE_HOME/rung/history`, when its folder exists or can be made.
fn history_file(variables: &Variables) -> Option<PathBuf> {
    let folder = folder_of(variables, "XDG_STATE_HOME", ".local/state")?;
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        end: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.names.complete(line, end))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(match balance::ends_inside(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, position: usize) -> Cow<'l, str> {
        if self.colors { self.brackets.highlight(line, position) } else { Cow::Borrowed(line) }
    }

    fn highlight_char(
        &self,
        line: &str,
        position: usize,
        kind: rustyline::highlight::CmdKind,
    ) -> bool {
        self.colors && self.brackets.highlight_char(line, position, kind)
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Helper for Assistant {}
