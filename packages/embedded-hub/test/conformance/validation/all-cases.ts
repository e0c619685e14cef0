import { generatedEdits } from './generate-edits.ts';
import { editedObjects, idOf } from './good-objects.ts';
import { HAND_WRITTEN_CASES } from './edits/hand-written-cases.ts';
import type { ValidationCase } from './validation-case.ts';

/** Every case that is recorded: single changes of all good objects, on create and on update, and the written ones. */
export function allCases(): readonly ValidationCase[] {
  const generated = editedObjects().flatMap((object) =>
    generatedEdits(object).flatMap((edit): ValidationCase[] => [
      { object: idOf(object), verb: 'create', edits: [edit] },
      { object: idOf(object), verb: 'update', edits: [edit] },
    ]),
  );
  const cases = [...generated, ...HAND_WRITTEN_CASES];
  return [...new Map(cases.map((one) => [JSON.stringify(one), one])).values()];
}
