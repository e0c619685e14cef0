/**
 * meta/v1 LabelSelector. An absent selector differs from an empty one; its user defines the meaning
 * of absent.
 */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
}

export interface LabelSelectorRequirement {
  readonly key: string;
  /** In | NotIn | Exists | DoesNotExist; kept as text because unchecked input may hold anything. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}
