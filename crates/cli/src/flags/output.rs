//! Flags about what is printed and how, and those of `rung doctor`.

use super::{FLAG, Flag, Group, Takes};
use crate::request::{Colors, DoctorForm, Help};

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "--json",
        group: Group::Output,
        summary: "results and errors as JSON, one object a line",
        apply: |request, given, origin| {
            request.json.set(given.on(), origin);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--color",
        takes: Takes::Choice(&["auto", "always", "never"]),
        key: Some("color"),
        group: Group::Output,
        summary: "colours in messages; auto: on a terminal",
        detail: &["NO_COLOR, CLICOLOR_FORCE and TERM=dumb are honoured by auto."],
        apply: |request, given, origin| {
            let value = match given.text() {
                "always" => Colors::Always,
                "never" => Colors::Never,
                _ => Colors::Auto,
            };
            request.colors.set(value, origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.colors;
            (format!("{:?}", setting.value).to_lowercase(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--message-format",
        takes: Takes::Choice(&["full", "short"]),
        key: Some("message-format"),
        group: Group::Output,
        summary: "short: one line for each message, FILE:LINE:COLUMN first",
        apply: |request, given, origin| {
            request.short_messages.set(given.text() == "short", origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.short_messages;
            let word = if setting.value { "short" } else { "full" };
            (word.to_string(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--quiet",
        short: Some('q'),
        group: Group::Output,
        summary: "no notes, and one line for each message",
        apply: |request, given, origin| {
            request.quiet.set(given.on(), origin);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--verbose",
        short: Some('v'),
        group: Group::Output,
        summary: "say more; repeatable; with --version, facts of this build",
        apply: |request, given, origin| {
            let more = request.verbose.value + u32::from(given.on());
            request.verbose.set(more, origin);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--help",
        short: Some('h'),
        group: Group::Output,
        summary: "help: -h on one screen, --help everything",
        apply: |request, _, _| {
            request.help = Help::Long;
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--version",
        short: Some('V'),
        group: Group::Output,
        summary: "the version",
        apply: |request, given, _| {
            request.version = given.on();
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--ops",
        group: Group::Doctor,
        commands: &["doctor"],
        summary: "operations by rungs, with the reason for each empty place",
        apply: |request, _, _| request.doctor.choose(DoctorForm::Operations),
        ..FLAG
    },
    Flag {
        name: "--report",
        group: Group::Doctor,
        commands: &["doctor"],
        summary: "text for a bug report: no paths, no user or host names",
        apply: |request, _, _| request.doctor.choose(DoctorForm::Report),
        ..FLAG
    },
    Flag {
        name: "--quick",
        group: Group::Tune,
        commands: &["tune"],
        summary: "a quarter of the time, and less certain figures",
        apply: |request, given, origin| {
            request.quick.set(given.on(), origin);
            Ok(())
        },
        ..FLAG
    },
];
