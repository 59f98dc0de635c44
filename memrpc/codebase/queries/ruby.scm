; Declarations
(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.function
(class name: (constant) @name) @def.class
(class name: (scope_resolution name: (constant) @name)) @def.class
(module name: (constant) @name) @def.module
(module name: (scope_resolution name: (constant) @name)) @def.module
(program (assignment left: (constant) @name) @def.constant)
(body_statement (assignment left: (constant) @name) @def.constant)
(call method: (identifier) @_a arguments: (argument_list (simple_symbol) @name @def.property) (#match? @_a "^attr_(accessor|reader|writer)$"))
(call method: (identifier) @_a arguments: (argument_list . (simple_symbol) @name) (#eq? @_a "define_method")) @def.method
(comment) @comment

; Visibility
(body_statement (identifier) @_p . [(method) (singleton_method) (call) (assignment) (class) (module) (singleton_class) (alias) (if) (unless) (comment)]* . (method) @private (#any-of? @_p "private" "protected"))
(call method: (identifier) @_p arguments: (argument_list [(method) (singleton_method)] @private) (#any-of? @_p "private" "protected" "private_class_method"))

; Uses
(call !receiver method: (identifier) @ref.call)
(call receiver: (_) @on method: (identifier) @ref.call)
(call receiver: (constant) @ref.instantiation method: (identifier) @_n (#eq? @_n "new"))
(superclass (constant) @ref.extends)
(superclass (scope_resolution name: (constant) @ref.extends))
(call method: (identifier) @_i arguments: (argument_list (constant) @ref.implements) (#match? @_i "^(include|extend|prepend)$"))
(call method: (identifier) @_q arguments: (argument_list (string (string_content) @import.module)) (#match? @_q "^require(_relative)?$"))

; What a name may mean instead
(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(assignment left: (identifier) @local)
(block) @scope
(do_block) @scope
