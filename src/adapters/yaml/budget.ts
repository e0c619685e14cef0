/** Limits of one file; a file beyond them is rejected before it is parsed. */
export interface YamlBudget {
  readonly fileBytes: number;
  readonly documentBytes: number;
  readonly documents: number;
  /** Nesting of mappings and lists. */
  readonly depth: number;
  /** Keys, values and list entries of one document, with aliases not expanded. */
  readonly nodes: number;
  readonly keysPerMapping: number;
  readonly aliases: number;
  /** Keys copied by `<<` in one document. */
  readonly mergedKeys: number;
  /** Approximate size of the document as JSON with all aliases expanded. */
  readonly expandedBytes: number;
}

export const DEFAULT_YAML_BUDGET: YamlBudget = {
  fileBytes: 8 * 1024 * 1024,
  // What the API server takes in one request: the CustomResourceDefinitions of Argo CD have nearly half of it.
  documentBytes: 3 * 1024 * 1024,
  documents: 5_000,
  depth: 100,
  nodes: 300_000,
  keysPerMapping: 10_000,
  aliases: 1_000,
  mergedKeys: 10_000,
  expandedBytes: 4 * 1024 * 1024,
};
