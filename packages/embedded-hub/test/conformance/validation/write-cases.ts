import type { JsonObject } from '../../../src/json/json-value.ts';
import type { Scheme } from '../../../src/scheme/scheme.ts';
import type { LooseJson } from '../../loose-json.ts';
import { collectionPath, goodObjects, idOf, nameOf } from './good-objects.ts';
import type { ValidationCase, Verdict } from './validation-case.ts';
import { withEdits } from './validation-case.ts';
import { verdictOf } from './verdict.ts';

const APPLY = 'application/apply-patch+yaml';
const CREATES: ReadonlySet<ValidationCase['verb']> = new Set(['create', 'apply']);

/** Sends one request to a server of whatever sort. */
export type Send = (
  method: string,
  path: string,
  body?: JsonObject,
  contentType?: string,
) => Promise<{ readonly status: number; readonly body: LooseJson }>;

export interface CaseWriter<Found = Verdict> {
  /** Answers to cases of `create` and `apply`, while no good object is stored; nothing is stored by them. */
  create(one: ValidationCase): Promise<Found>;
  /** Stores all good objects; answers of their creation, by id. */
  store(): Promise<ReadonlyMap<string, Found>>;
  /** Answers to the other cases, against the stored objects; nothing is changed by them. */
  change(one: ValidationCase): Promise<Found>;
}

/** What is compared, and what is kept of each answer. */
export interface CaseReading<Found> {
  readonly objects: readonly JsonObject[];
  readonly read: (status: number, body: LooseJson) => Found;
}

const VERDICTS = (): CaseReading<Verdict> => ({ objects: goodObjects(), read: verdictOf });

export function caseWriter(scheme: Scheme, send: Send): CaseWriter;
export function caseWriter<Found>(scheme: Scheme, send: Send, reading: CaseReading<Found>): CaseWriter<Found>;
export function caseWriter(
  scheme: Scheme,
  send: Send,
  reading: CaseReading<unknown> = VERDICTS(),
): CaseWriter<unknown> {
  const { read } = reading;
  const goods = new Map(reading.objects.map((good) => [idOf(good), good]));
  const known = (id: string): JsonObject => {
    const found = goods.get(id);
    if (found === undefined) throw new Error(`no good object is called ${id}`);
    return found;
  };
  return {
    async create({ object, verb, edits }) {
      const good = known(object);
      const path = collectionPath(scheme, good);
      const edited = withEdits(good, edits);
      const { status, body } =
        verb === 'create'
          ? await send('POST', `${path}?dryRun=All`, edited)
          : await send('PATCH', `${path}/${nameOf(good)}?dryRun=All&fieldManager=applier`, edited, APPLY);
      return read(status, body);
    },
    async store() {
      const created = new Map<string, unknown>();
      for (const [id, good] of goods) {
        const { status, body } = await send('POST', collectionPath(scheme, good), good);
        created.set(id, read(status, body));
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
      return read(status, body);
    },
  };
}

/** Answers to all cases, in their order; stores the good objects between the creations and the rest. */
export async function answersOf<Found>(
  writer: CaseWriter<Found>,
  cases: readonly ValidationCase[],
  atOnce = 1,
): Promise<{ readonly created: ReadonlyMap<string, Found>; readonly answers: readonly Found[] }> {
  const answers: Found[] = [];
  const run = async (wanted: boolean): Promise<void> => {
    const indexes = [...cases.keys()].filter(
      (index) => CREATES.has(cases[index]?.verb ?? 'update') === wanted,
    );
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
