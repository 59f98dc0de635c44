(function_definition name: (word) @name) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @def.variable))
(comment) @comment

(command name: (command_name (word) @ref.call))
(command name: (command_name (word) @_s) argument: (word) @import.module (#match? @_s "^(\\.|source)$"))
