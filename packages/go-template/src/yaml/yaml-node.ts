/** A node of a YAML document. Texts are byte strings. */
export type YamlNode = YamlScalar | YamlAlias | YamlList | YamlMap;

export interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: string;
  /** The full tag, such as `tag:yaml.org,2002:str`; '' for none. */
  readonly tag: string;
  /** Whether the content determines the type of the value, as in a scalar without quotes. */
  readonly isPlain: boolean;
}

export interface YamlAlias {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}

export interface YamlList {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface YamlMap {
  readonly kind: 'map';
  readonly entries: readonly (readonly [key: YamlNode, value: YamlNode])[];
}
