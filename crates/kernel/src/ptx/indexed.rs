//! Which variables are indexed by what only a run knows, and which are only read: such an analysis
//! decides where a variable stands.

use naga::{
    AddressSpace, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module,
    Statement,
};

/// What a pointer points into.
#[derive(Clone, Copy)]
enum Root {
    Global(Handle<GlobalVariable>),
    Local(Handle<LocalVariable>),
    Argument(u32),
    None,
}

/// What a function does to what it can reach by pointers.
#[derive(Default)]
struct Reach {
    locals: Vec<bool>,
    /// Of each argument whether it is indexed, and whether it is written.
    indexed: Vec<bool>,
    written: Vec<bool>,
}

#[derive(Default)]
pub(super) struct Indexed {
    globals: Vec<bool>,
    written: Vec<bool>,
    private: Vec<bool>,
    functions: Vec<Reach>,
    entry: Reach,
}

impl Indexed {
    /// Functions come after those that they call, as naga's validation wants them.
    pub(super) fn of(module: &Module) -> Indexed {
        let globals = module.global_variables.len();
        let private = |g: &GlobalVariable| g.space == AddressSpace::Private;
        let mut all = Indexed {
            globals: vec![false; globals],
            written: vec![false; globals],
            private: module.global_variables.iter().map(|(_, g)| private(g)).collect(),
            ..Default::default()
        };
        for (_, function) in module.functions.iter() {
            let reach = all.reach(function);
            all.functions.push(reach);
        }
        for entry in &module.entry_points {
            all.entry = all.reach(&entry.function);
        }
        all
    }

    pub(super) fn global(&self, handle: Handle<GlobalVariable>) -> bool {
        self.globals[handle.index()]
    }

    /// A private variable that is indexed and keeps its first value.
    pub(super) fn is_table(&self, handle: Handle<GlobalVariable>) -> bool {
        let at = handle.index();
        self.private[at] && self.globals[at] && !self.written[at]
    }

    /// Whether a local variable of a function, or of the entry point, is indexed.
    pub(super) fn local(
        &self,
        function: Option<Handle<Function>>,
        local: Handle<LocalVariable>,
    ) -> bool {
        let reach = function.map_or(&self.entry, |f| &self.functions[f.index()]);
        reach.locals[local.index()]
    }

    fn reach(&mut self, function: &Function) -> Reach {
        let mut reach = Reach {
            locals: vec![false; function.local_variables.len()],
            indexed: vec![false; function.arguments.len()],
            written: vec![false; function.arguments.len()],
        };
        for (_, expression) in function.expressions.iter() {
            if let Expression::Access { base, index } = *expression
                && !matches!(function.expressions[index], Expression::Literal(_))
            {
                self.index(root(function, base), &mut reach);
            }
        }
        self.block(function, &function.body, &mut reach);
        reach
    }

    fn index(&mut self, root: Root, reach: &mut Reach) {
        match root {
            Root::Global(g) => self.globals[g.index()] = true,
            Root::Local(l) => reach.locals[l.index()] = true,
            Root::Argument(a) => reach.indexed[a as usize] = true,
            Root::None => {}
        }
    }

    fn write(&mut self, root: Root, reach: &mut Reach) {
        match root {
            Root::Global(g) => self.written[g.index()] = true,
            Root::Argument(a) => reach.written[a as usize] = true,
            Root::Local(_) | Root::None => {}
        }
    }

    fn block(&mut self, function: &Function, block: &Block, reach: &mut Reach) {
        for statement in block {
            match statement {
                Statement::Store { pointer, .. } | Statement::Atomic { pointer, .. } => {
                    self.write(root(function, *pointer), reach);
                }
                Statement::Call { function: callee, arguments, .. } => {
                    for (i, argument) in arguments.iter().enumerate() {
                        let callee = &self.functions[callee.index()];
                        let (indexed, written) = (callee.indexed[i], callee.written[i]);
                        let root = root(function, *argument);
                        if indexed {
                            self.index(root, reach);
                        }
                        if written {
                            self.write(root, reach);
                        }
                    }
                }
                Statement::Block(block) => self.block(function, block, reach),
                Statement::If { accept, reject, .. } => {
                    self.block(function, accept, reach);
                    self.block(function, reject, reach);
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.block(function, &case.body, reach));
                }
                Statement::Loop { body, continuing, .. } => {
                    self.block(function, body, reach);
                    self.block(function, continuing, reach);
                }
                _ => {}
            }
        }
    }
}

fn root(function: &Function, mut pointer: Handle<Expression>) -> Root {
    loop {
        match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                pointer = base;
            }
            Expression::GlobalVariable(g) => return Root::Global(g),
            Expression::LocalVariable(l) => return Root::Local(l),
            Expression::FunctionArgument(a) => return Root::Argument(a),
            _ => return Root::None,
        }
    }
}
