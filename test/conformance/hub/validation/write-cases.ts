import type { JsonObject } from '../../../../src/hub/json/json-value.ts';
import type { Scheme } from '../../../../src/hub/scheme/scheme.ts';
import type { LooseJson } from '../../../hub/loose-json.ts';
import { collectionPath, goodObjects, idOf, nameOf } from './good-objects.ts';
import type { ValidationCase, Verdict } from './validation-case.ts';
import { withEdits } from './validation-case.ts';
import { verdictOf } from './verdict.ts';

/** Sends one request to a server of whatever sort. */
export type Send = (
  method: string,
  path: string,
  body?: JsonObject,
) => Promise<{ readonly status: number; readonly body: LooseJson }>;

export interface CaseWriter {
  /** Answers to cases of `create`, while no good object is stored; nothing is stored by them. */
  create(one: ValidationCase): Promise<Verdict>;
  /** Stores all good objects; answers of their creation, by id. */
  store(): Promise<ReadonlyMap<string, Verdict>>;
  /** Answers to the other cases, against the stored objects; nothing is changed by them. */
  change(one: ValidationCase): Promise<Verdict>;
}

export function caseWriter(scheme: Scheme, send: Send): CaseWriter {
  const goods = new Map(goodObjects().map((good) => [idOf(good), good]));
  const known = (id: string): JsonObject => {
    const found = goods.get(id);
    if (found === undefined) throw new Error(`no good object is called ${id}`);
    return found;
  };
  return {
    async create({ object, edits }) {
      const good = known(object);
      const path = `${collectionPath(scheme, good)}?dryRun=All`;
      const { status, body } = await send('POST', path, withEdits(good, edits));
      return verdictOf(status, body);
    },
    async store() {
      const created = new Map<string, Verdict>();
      for (const [id, good] of goods) {
        const { status, body } = await send('POST', collectionPath(scheme, good), good);
        created.set(id, verdictOf(status, body));
      }
      return created;
    },
    async change({ object, verb, edits }) {
      const good = known(object);
      const subresource = verb === 'update' ? '' : `/${verb}`;
      const path = `${collectionPath(scheme, good)}/${nameOf(good)}`;
      const live = await send('GET', path);
      const changed = withEdits(live.body as JsonObject, edits);
      const { status, body } = await send('PUT', `${path}${subresource}?dryRun=All`, changed);
      return verdictOf(status, body);
    },
  };
}

/** Answers to all cases, in their order; stores the good objects between the creations and the rest. */
export async function answersOf(
  writer: CaseWriter,
  cases: readonly ValidationCase[],
  atOnce = 1,
): Promise<{ readonly created: ReadonlyMap<string, Verdict>; readonly answers: readonly Verdict[] }> {
  const answers: Verdict[] = [];
  const run = async (wanted: boolean): Promise<void> => {
    const indexes = [...cases.keys()].filter((index) => (cases[index]?.verb === 'create') === wanted);
    for (let start = 0; start < indexes.length; start += atOnce) {
      const batch = indexes.slice(start, start + atOnce).map(async (index) => {
        const one = cases[index] as ValidationCase;
        answers[index] = await (wanted ? writer.create(one) : writer.change(one));
      });
      await Promise.all(batch);
    }
  };
  await run(true);
  const created = await writer.store();
  await run(false);
  return { created, answers };
}
