import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/json-value.ts';
import { embeddedServer } from './validation/embedded-server.ts';
import { caseName, withEdits } from './validation/validation-case.ts';
import { answersOf, caseWriter } from './validation/write-cases.ts';
import type { AllowedForm } from './stored-form/allowed-forms.ts';
import { ALLOWED_FORMS } from './stored-form/allowed-forms.ts';
import { storedAnswer } from './stored-form/stored-answer.ts';
import { differences, readStoredForms, storedObjects } from './stored-form/stored-cases.ts';

/** Where the hub stores something else, apart from what is allowed. */
function unlike(
  object: string,
  want: JsonObject | undefined,
  found: JsonObject | undefined,
): readonly unknown[] {
  if (found === undefined || want === undefined) return [found === want ? 'same' : 'refused'];
  return differences(want, found).filter(([pointer]) => {
    const allowed = ALLOWED_FORMS.find((one) => object.startsWith(one.object) && one.path.test(pointer));
    if (allowed !== undefined) used.add(allowed);
    return allowed === undefined;
  });
}

const used = new Set<AllowedForm>();

describe('what kube-apiserver stores of what it accepts', () => {
  const { created, cases } = readStoredForms();
  let answers: readonly (JsonObject | undefined)[];
  let stored: ReadonlyMap<string, JsonObject | undefined>;

  beforeAll(async () => {
    const { scheme, send } = embeddedServer();
    const writer = caseWriter(scheme, send, { objects: storedObjects(), read: storedAnswer });
    ({ created: stored, answers } = await answersOf(writer, cases));
  });

  it.each(Object.keys(created))('%s', (id) => {
    const base = created[id] as JsonObject;
    expect(unlike(id, base, stored.get(id))).toEqual([]);
    const found = cases.flatMap((one, index) => {
      if (one.object !== id) return [];
      const different = unlike(id, withEdits(base, one.want), answers[index]);
      return different.length === 0 ? [] : [{ name: caseName(one), different }];
    });
    expect(found).toEqual([]);
  });

  it('needs every difference that it allows', () => {
    expect(ALLOWED_FORMS.filter((one) => !used.has(one))).toEqual([]);
  });
});
