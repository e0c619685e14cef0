const YAML = 'go-yaml finds the same fault in other words';

/** Errors that are told in other words than Argo CD's, and why. The reason is the same, and that the whole set fails. */
export const OTHER_TEXTS: Readonly<Record<string, string>> = {
  'list-0208': YAML,
  'list-0210': YAML,
  'list-0237': YAML,
  'list-0238': YAML,
  'matrix-0259': YAML,
  'templatePatch-0014': YAML,
  'templatePatch-0073': YAML,
  'templatePatch-0101': YAML,
};
