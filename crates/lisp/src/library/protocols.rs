//! The generic functions that the language itself calls and a program may specialise, each with
//! the methods of the language.

use std::cell::Cell;

use crate::class::class_in;
use crate::condition::{Escape, Outcome};
use crate::generic::{Method, MethodBody, Specialiser};
use crate::lisp::Lisp;
use crate::native::NativeBody;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list};

use super::{classes, dispatch, generics, instances, stream_parts, streams, system};

/// Specialisers and code of a method.
type StandardMethod = (&'static [Symbol], NativeBody);

/// A generic function: name, lambda list, documentation and methods.
struct Protocol {
    name: &'static str,
    lambda_list: &'static str,
    documentation: &'static str,
    methods: &'static [StandardMethod],
}

const OBJECT: Symbol = symbol::STANDARD_OBJECT;

const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "make-instance",
        lambda_list: "class &rest initargs &key &allow-other-keys",
        documentation: "A new instance of a class.",
        methods: &[
            (&[symbol::SYMBOL], instances::make_instance),
            (&[symbol::CLASS], instances::make_instance),
        ],
    },
    Protocol {
        name: "allocate-instance",
        lambda_list: "class &rest initargs &key &allow-other-keys",
        documentation: "A new instance whose slots are unbound.",
        methods: &[(&[symbol::CLASS], instances::allocate_instance)],
    },
    Protocol {
        name: "initialize-instance",
        lambda_list: "instance &rest initargs &key &allow-other-keys",
        documentation: "Gives a new instance its slots.",
        methods: &[(&[OBJECT], instances::initialize_instance)],
    },
    Protocol {
        name: "reinitialize-instance",
        lambda_list: "instance &rest initargs &key &allow-other-keys",
        documentation: "Changes the slots that initargs name.",
        methods: &[(&[OBJECT], instances::reinitialize_instance)],
    },
    Protocol {
        name: "shared-initialize",
        lambda_list: "instance slot-names &rest initargs &key &allow-other-keys",
        documentation: "Fills slots from initargs and initforms.",
        methods: &[(&[OBJECT, symbol::T], instances::shared_initialize)],
    },
    Protocol {
        name: "change-class",
        lambda_list: "instance new-class &key &allow-other-keys",
        documentation: "Makes an instance one of another class.",
        methods: &[
            (&[OBJECT, symbol::CLASS], instances::change_class),
            (&[OBJECT, symbol::SYMBOL], instances::change_class),
        ],
    },
    Protocol {
        name: "update-instance-for-different-class",
        lambda_list: "previous current &rest initargs &key &allow-other-keys",
        documentation: "Initialises what change-class has added.",
        methods: &[(&[OBJECT, OBJECT], instances::update_for_different)],
    },
    Protocol {
        name: "update-instance-for-redefined-class",
        lambda_list: "instance added discarded properties &rest initargs &key &allow-other-keys",
        documentation: "Initialises what a new definition of the class has added.",
        methods: &[(&[OBJECT, symbol::T, symbol::T, symbol::T], instances::update_for_redefined)],
    },
    Protocol {
        name: "slot-unbound",
        lambda_list: "class instance slot",
        documentation: "Called when a slot without a value is read.",
        methods: &[(&[symbol::T, symbol::T, symbol::T], instances::slot_unbound)],
    },
    Protocol {
        name: "slot-missing",
        lambda_list: "class object slot operation &optional value",
        documentation: "Called when an object has no slot of a name.",
        methods: &[(&[symbol::T, symbol::T, symbol::T, symbol::T], instances::slot_missing)],
    },
    Protocol {
        name: "no-applicable-method",
        lambda_list: "generic-function &rest arguments",
        documentation: "Called when no method applies to arguments.",
        methods: &[(&[symbol::T], dispatch::no_applicable_method)],
    },
    Protocol {
        name: "no-next-method",
        lambda_list: "generic-function method &rest arguments",
        documentation: "Called when call-next-method has no next method.",
        methods: &[(&[symbol::T, symbol::METHOD], dispatch::no_next_method)],
    },
    Protocol {
        name: "print-object",
        lambda_list: "object stream",
        documentation: "Prints an object; the printer calls it.",
        methods: &[(&[symbol::T, symbol::T], print_object)],
    },
    Protocol {
        name: "describe-object",
        lambda_list: "object stream",
        documentation: "Says what an object is; describe calls it.",
        methods: &[(&[symbol::T, symbol::T], describe_object)],
    },
    Protocol {
        name: "close",
        lambda_list: "stream &key abort",
        documentation: "Closes a stream.",
        methods: &[(&[symbol::T], streams::close)],
    },
    Protocol {
        name: "open-stream-p",
        lambda_list: "stream",
        documentation: "Whether it is open.",
        methods: &[(&[symbol::T], streams::is_open)],
    },
    Protocol {
        name: "interactive-stream-p",
        lambda_list: "stream",
        documentation: "Whether a person is at the other end: true of a terminal.",
        methods: &[(&[symbol::T], streams::is_interactive)],
    },
    Protocol {
        name: "input-stream-p",
        lambda_list: "stream",
        documentation: "Whether it gives input.",
        methods: &[(&[symbol::T], streams::gives_input)],
    },
    Protocol {
        name: "output-stream-p",
        lambda_list: "stream",
        documentation: "Whether it takes output.",
        methods: &[(&[symbol::T], streams::takes_output)],
    },
    Protocol {
        name: "stream-element-type",
        lambda_list: "stream",
        documentation: "What is read or written at once.",
        methods: &[(&[symbol::T], stream_parts::element_type)],
    },
    Protocol {
        name: "make-load-form",
        lambda_list: "object &optional environment",
        documentation: "A form that makes an object like this one.",
        methods: &[(&[symbol::T], no_load_form), (&[symbol::CLASS], class_load_form)],
    },
];

/// Makes the generic functions.
pub(crate) fn define_protocols(lisp: &mut Lisp) -> Outcome<()> {
    for protocol in PROTOCOLS {
        let name = super::intern_named(lisp, protocol.name);
        let lambda_list = words(lisp, protocol.lambda_list);
        let ensure = Value::symbol(super::intern_named(lisp, "ensure-generic-function"));
        let arguments = [
            Value::symbol(name),
            Value::symbol(symbol::KEY_LAMBDA_LIST),
            lambda_list.clone(),
            Value::symbol(symbol::KEY_DOCUMENTATION),
            Value::string(protocol.documentation),
        ];
        lisp.call(&ensure, &arguments)?;
        for (specialisers, body) in protocol.methods {
            let mut parameters = generics::parameters(lisp, &lambda_list)?;
            // The keywords that count are those of the program's methods.
            parameters.rest |= parameters.keyed;
            (parameters.keyed, parameters.allow_other_keys) = (false, false);
            generics::add_method(
                lisp,
                Method {
                    generic: Value::symbol(name),
                    qualifiers: Vec::new(),
                    specialisers: specialisers.iter().map(|c| Specialiser::Class(*c)).collect(),
                    lambda_list: lambda_list.clone(),
                    parameters,
                    body: MethodBody::Native(*body),
                    documentation: NIL,
                    initial: Cell::new(false),
                },
            )?;
        }
    }
    Ok(())
}

fn words(lisp: &mut Lisp, text: &str) -> Value {
    let word = |word: &str| Value::symbol(lisp.intern(crate::package::CL, &word.to_uppercase()));
    list(text.split_whitespace().map(word).collect::<Vec<_>>())
}

fn print_object(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let text = crate::printer::print_without_methods(lisp, &a[0])?;
    let stream = lisp.output_stream(&a[1], "print-object")?;
    lisp.write(&stream, &text)?;
    Ok(a[0].clone())
}

fn describe_object(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let text = system::describe(lisp, &a[0])?;
    let stream = lisp.output_stream(&a[1], "describe-object")?;
    lisp.write(&stream, &text)?;
    Ok(a[0].clone())
}

fn no_load_form(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let shown = lisp.brief(&a[0]);
    let text = format!("make-load-form: there is no method for {shown}");
    Err(Escape::error(text).hint("make-load-form-saving-slots gives a form for its slots"))
}

fn class_load_form(_: &mut Lisp, a: &[Value]) -> Outcome {
    let name = a[0].as_class().map_or(symbol::NIL, |class| class.name.get());
    Ok(crate::expand::form(symbol::FIND_CLASS, [crate::expand::quoted(Value::symbol(name))]))
}

/// Whether the program has a method of `print-object` or `describe-object` for a value.
pub(crate) fn is_specialised(lisp: &mut Lisp, generic: Symbol, value: &Value) -> bool {
    let function = lisp.symbols[generic].function.clone();
    let Some(found) = function.as_generic() else { return false };
    if found.methods.borrow().all.len() <= 1 {
        return false;
    }
    let methods = dispatch::applicable(lisp, found, &[value.clone(), NIL]);
    let first = methods.first().map(|method| &crate::generic::method_in(method).body);
    first.is_some_and(|body| !matches!(body, MethodBody::Native(_)))
}

/// The slots of an instance for `describe`: name and printed value.
pub(crate) fn slots_shown(lisp: &mut Lisp, value: &Value) -> Vec<(String, String)> {
    let class = classes::class_of(lisp, value);
    let names = class.as_object().map(|class| class_in(class).slot_names()).unwrap_or_default();
    let mut shown = Vec::new();
    for name in names {
        let slot = lisp.shown(name);
        let value = match instances::bound_value(lisp, value, name) {
            Some(value) => lisp.brief(&value),
            None => "unbound".to_string(),
        };
        shown.push((slot, value));
    }
    shown
}
