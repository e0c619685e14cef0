import type { Edit, ValidationCase } from '../validation-case.ts';

/** Cases of one good object, each on create and on update. A case is one edit, or a list of edits made together. */
export function changesOf(object: string, changes: readonly (Edit | readonly Edit[])[]): ValidationCase[] {
  return changes.flatMap((change): ValidationCase[] => {
    const edits = (typeof change[0] === 'string' ? [change] : change) as readonly Edit[];
    return [
      { object, verb: 'create', edits },
      { object, verb: 'update', edits },
    ];
  });
}
