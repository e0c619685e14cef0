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
  /** The line where the token starts, from 0. */
  readonly line: number;
  /**
   * The text of a scalar, the name of an anchor or alias, the version `1.1`, or the handle of a
   * tag. Byte string.
   */
  readonly value: string;
  /** The part of a tag after its handle, or the prefix of a handle. */
  readonly suffix: string;
  /** Whether a scalar is neither quoted nor a block. */
  readonly isPlain: boolean;
}

export function yamlToken(
  kind: YamlTokenKind,
  line: number,
  { value = '', suffix = '', isPlain = false } = {},
): YamlToken {
  return { kind, line, value, suffix, isPlain };
}
