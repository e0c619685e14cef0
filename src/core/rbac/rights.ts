import { BugError } from '@berth/runtime/errors';
import text from './rights.yaml';

/** The lines of each part of rights.yaml, by its name: rules of a role, with the reason above each rule. */
const PARTS = new Map(
  text.split(/^(?=\w)/m).map((part) => {
    const [name = '', ...lines] = part.split('\n');
    return [name.slice(0, -1), lines.filter((line) => line.startsWith('  '))];
  }),
);

/** The rules of some parts of rights.yaml, one after the other, as YAML lines. */
export function rights(...parts: readonly string[]): readonly string[] {
  return parts.flatMap((part) => {
    const lines = PARTS.get(part);
    if (lines === undefined)
      throw new BugError('is no part of rights.yaml', { code: 'rbac.rights', subject: part });
    return lines;
  });
}

/** The rules of a part whose objects have names. @param names undefined: they are not known, and no rule names any */
export function namedRights(part: string, names: readonly string[] | undefined): readonly string[] {
  const lines = rights(part);
  if (names === undefined) return lines.filter((line) => !line.includes("'NAME'"));
  return lines.map((line) => line.replace("'NAME'", () => names.map((name) => `'${name}'`).join(', ')));
}
