import type { Edit, ValidationCase } from '../validation-case.ts';
import { EMBEDDED_CASES } from './embedded.ts';
import { OTHER_EDITS } from './other-edits.ts';
import { SERVICE_EDITS } from './service-edits.ts';
import { STATUS_EDITS } from './status-edits.ts';
import { WORKLOAD_EDITS } from './workload-edits.ts';

/** Every change on creation and on update. */
function casesOf(edits: Readonly<Record<string, readonly (readonly Edit[])[]>>): readonly ValidationCase[] {
  return Object.entries(edits).flatMap(([object, changes]) =>
    changes.flatMap((change): readonly ValidationCase[] => {
      const written = JSON.parse(JSON.stringify(change)) as readonly Edit[];
      return [
        { object, verb: 'create', edits: written },
        { object, verb: 'update', edits: written },
      ];
    }),
  );
}

export const HAND_WRITTEN_CASES: readonly ValidationCase[] = [
  ...EMBEDDED_CASES,
  ...casesOf(SERVICE_EDITS),
  ...casesOf(WORKLOAD_EDITS),
  ...casesOf(OTHER_EDITS),
  ...STATUS_EDITS,
];
