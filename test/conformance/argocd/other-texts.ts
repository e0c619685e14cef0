/** Errors that are told in other words than Argo CD's, and why. The reason is the same, and that the whole set fails. */
export const OTHER_TEXTS: Readonly<Record<string, string>> = {
  'templatePatch-0014': 'go-yaml counts the lines up to the end of the text here, and one less elsewhere',
};
