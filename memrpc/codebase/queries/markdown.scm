(section (atx_heading (atx_h1_marker) heading_content: (inline) @name)) @def.heading1
(section (atx_heading (atx_h2_marker) heading_content: (inline) @name)) @def.heading2
(section (atx_heading (atx_h3_marker) heading_content: (inline) @name)) @def.heading
(section (atx_heading (atx_h4_marker) heading_content: (inline) @name)) @def.heading
(section (atx_heading (atx_h5_marker) heading_content: (inline) @name)) @def.heading
(section (atx_heading (atx_h6_marker) heading_content: (inline) @name)) @def.heading
(setext_heading heading_content: (paragraph) @name (setext_h1_underline)) @def.heading1
(setext_heading heading_content: (paragraph) @name (setext_h2_underline)) @def.heading2
(fenced_code_block (info_string (language) @name)) @def.code_block
