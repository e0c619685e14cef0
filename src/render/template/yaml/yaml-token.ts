export type YamlTokenKind =
  | 'stream end'
  | 'version'
  | 'tag prefix'
  | 'document start'
  | 'document end'
  | 'list start'
  | 'map start'
  | 'block end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface YamlToken {
  readonly kind: YamlTokenKind;
  /** Where it begins, from 0. */
  readonly line: number;
  /** The text of a scalar, the name of an anchor or alias, `1.1`, the handle of a tag. Byte string. */
  readonly value: string;
  /** The rest of a tag behind its handle, or the prefix that a handle means. */
  readonly suffix: string;
  /** Whether a scalar has neither quotes nor a block. */
  readonly isPlain: boolean;
}

export function yamlToken(
  kind: YamlTokenKind,
  line: number,
  { value = '', suffix = '', isPlain = false } = {},
): YamlToken {
  return { kind, line, value, suffix, isPlain };
}
