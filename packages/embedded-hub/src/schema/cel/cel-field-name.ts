/** Reserved words, which cannot be field names in expressions. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a declared field in expressions, escaped: `__in__`, `a__dash__b`. */
export function celFieldName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[.\-/]/g, (found) => ESCAPES[found] ?? found);
}
