import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fieldSetFromJson,
  fieldSetToJson,
  difference,
  equalSets,
  intersection,
  union,
} from '../../src/apply/field-set.ts';
import type { FieldSet } from '../../src/apply/field-set.ts';
import { fieldsOf } from '../../src/apply/value-fields.ts';
import type { JsonObject } from '../../src/json/json-value.ts';
import { getOwn } from '../../src/json/json-value.ts';
import type { LooseJson } from '../loose-json.ts';
import type { Answer } from '../write/pipeline-store.ts';
import { PipelineStore } from '../write/pipeline-store.ts';

const text = { type: 'string' };
const spec: JsonObject = {
  type: 'object',
  properties: {
    size: { type: 'integer', default: 3 },
    colour: text,
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    plain: { type: 'array', items: text },
    map: { type: 'object', additionalProperties: text },
    atomic: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer' },
          protocol: { type: 'string', default: 'TCP' },
          name: text,
          opts: { type: 'object', additionalProperties: text },
        },
      },
    },
    nested: { type: 'object', properties: { a: text, b: { type: 'object', properties: { c: text } } } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const CRD: JsonObject = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec, status: { type: 'object', properties: { phase: text } } },
          },
        },
      },
    ],
  },
};

const word = fc.constantFrom('x', 'y', 'z');
const words = fc.dictionary(fc.constantFrom('k1', 'k2', 'constructor'), word, { maxKeys: 3 });
const port = fc.record(
  { port: fc.constantFrom(80, 443), protocol: fc.constantFrom('TCP', 'UDP'), name: word, opts: words },
  { requiredKeys: ['port'] },
);
const specs = fc.record(
  {
    size: fc.constantFrom(1, 2, 3),
    colour: word,
    tags: fc.uniqueArray(word),
    plain: fc.array(word, { maxLength: 2 }),
    map: words,
    atomic: words,
    ports: fc.uniqueArray(port, { selector: (one) => `${String(one.port)}/${one.protocol ?? 'TCP'}` }),
    nested: fc.record({ a: word, b: fc.record({ c: word }, { requiredKeys: [] }) }, { requiredKeys: [] }),
    free: fc.dictionary(word, fc.oneof(word, words, fc.array(word, { maxLength: 2 })), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

interface Step {
  readonly manager: string;
  readonly kind: 'apply' | 'force' | 'merge' | 'status';
  readonly spec: JsonObject;
}

const steps = fc.array(
  fc.record({
    manager: fc.constantFrom('m1', 'm2', 'm3', 'm4'),
    kind: fc.constantFrom('apply', 'apply', 'force', 'merge', 'status'),
    spec: specs,
  }),
  { minLength: 1, maxLength: 8 },
) as fc.Arbitrary<readonly Step[]>;

const PATH = '/apis/example.com/v1/namespaces/ns/things/t';
const APPLY = 'application/apply-patch+yaml';

const config = (body: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 't' },
  ...body,
});

function newStore(): PipelineStore {
  const store = new PipelineStore();
  store.install(CRD);
  return store;
}

function take(store: PipelineStore, step: Step): Answer {
  const query = `?fieldManager=${step.manager}`;
  switch (step.kind) {
    case 'merge':
      return store.send('PATCH', PATH + query, { spec: step.spec }, 'application/merge-patch+json');
    case 'status':
      return store.send(
        'PATCH',
        `${PATH}/status${query}`,
        config({ status: { phase: getOwn(step.spec, 'colour') ?? 'none' } }),
        APPLY,
      );
    default:
      return store.send(
        'PATCH',
        `${PATH}${query}${step.kind === 'force' ? '&force=true' : ''}`,
        config({ spec: step.spec }),
        APPLY,
      );
  }
}

/** Runs a history; hands every state and the step before it to `look`. */
function run(
  history: readonly Step[],
  look: (store: PipelineStore, step: Step, answer: Answer) => void,
): void {
  const store = newStore();
  for (const step of history) look(store, step, take(store, step));
}

const live = (store: PipelineStore): LooseJson => store.send('GET', PATH, undefined).body;
const entries = (object: LooseJson): LooseJson[] => object.metadata?.managedFields ?? [];
const setOf = (entry: LooseJson): FieldSet => fieldSetFromJson(entry.fieldsV1);
const schemaOf = (store: PipelineStore) =>
  (
    store.scheme.resource('example.com', 'v1', 'things') as NonNullable<
      ReturnType<typeof store.scheme.resource>
    >
  ).version.schema;
const isApply = (step: Step): boolean => step.kind === 'apply' || step.kind === 'force';
const ok = (answer: Answer): boolean => answer.status < 300;

const check = (property: fc.IPropertyWithHooks<unknown[]> | fc.IProperty<[readonly Step[]]>): void => {
  fc.assert(property as fc.IProperty<[readonly Step[]]>, { numRuns: 150 });
};

describe('random histories of server-side apply', () => {
  it('an applied value is there, no matter who else writes', () => {
    check(
      fc.property(steps, (history) => {
        run(history, (_store, step, answer) => {
          if (!isApply(step) || !ok(answer)) return;
          const stored = (answer.body['spec'] ?? {}) as JsonObject;
          for (const key of ['size', 'colour', 'plain', 'atomic']) {
            const wanted = getOwn(step.spec, key);
            if (wanted !== undefined) expect(getOwn(stored, key)).toEqual(wanted);
          }
        });
      }),
    );
  });

  it('what a manager stops applying goes, unless somebody else owns it', () => {
    check(
      fc.property(steps, (history) => {
        run(history, (store, step, answer) => {
          if (!isApply(step) || !ok(answer)) return;
          const others = entries(answer.body).filter(
            (entry) => entry.manager !== step.manager || entry.operation !== 'Apply',
          );
          const before = store.send('PATCH', `${PATH}?fieldManager=${step.manager}`, config({}), APPLY);
          expect(before.status).toBe(200);
          const left = fieldsOf(schemaOf(store), { spec: before.body['spec'] ?? {} });
          const owned = others.reduce<FieldSet>(
            (sum, entry) => union(sum, setOf(entry)),
            fieldSetFromJson({}),
          );
          // Only what this manager had applied must go: a field that was written while nobody was tracked has no owner at all.
          const mine = entries(answer.body).find(
            (entry) => !others.includes(entry) && entry.subresource === undefined,
          );
          const colour = 'f:colour';
          const applied = mine === undefined ? undefined : setOf(mine).children.get('f:spec');
          const ownedSpec = owned.children.get('f:spec');
          if (applied?.members.has(colour) === true)
            expect(left.children.get('f:spec')?.members.has(colour) === true).toBe(
              ownedSpec?.members.has(colour) === true,
            );
          expect(
            entries(before.body).some(
              (entry) =>
                entry.manager === step.manager &&
                entry.operation === 'Apply' &&
                entry.subresource === undefined,
            ),
          ).toBe(false);
        });
      }),
    );
  });

  it('the same configuration again changes nothing', () => {
    check(
      fc.property(steps, (history) => {
        run(history, (store, step, answer) => {
          // A configuration without leaves leaves nobody behind; the next apply then starts from "before-first-apply".
          if (!isApply(step) || !ok(answer) || entries(answer.body).length === 0) return;
          // An empty list is no leaf: one that just lost its last item is gone, and comes back empty once.
          const settled = take(store, step);
          store.now = '2030-01-01T00:00:00Z';
          expect(take(store, step).body).toEqual(settled.body);
          store.now = '2026-01-01T00:00:00Z';
        });
      }),
    );
  });

  it('a conflict changes nothing, names only fields of others, and force resolves it', () => {
    check(
      fc.property(steps, (history) => {
        const store = newStore();
        for (const step of history) {
          const before = live(store);
          const answer = take(store, step);
          if (answer.status !== 409) continue;
          expect(live(store)).toEqual(before);
          const causes: LooseJson[] = (answer.body['details'] as LooseJson).causes;
          expect(causes.length).toBeGreaterThan(0);
          for (const cause of causes) {
            expect(cause.reason).toBe('FieldManagerConflict');
            expect(cause.message).not.toBe(`conflict with "${step.manager}"`);
          }
          expect(take(store, { ...step, kind: 'force' }).status).toBe(200);
        }
      }),
    );
  });

  it('after a forced apply nobody else owns a leaf that it changed', () => {
    check(
      fc.property(steps, (history) => {
        const store = newStore();
        for (const step of history) {
          const before = live(store);
          const answer = take(store, step);
          if (step.kind !== 'force' || !ok(answer) || before.spec === undefined) continue;
          const colour = getOwn(step.spec, 'colour');
          if (colour === undefined || before.spec.colour === undefined || before.spec.colour === colour)
            continue;
          const owners = entries(answer.body).filter(
            (entry) => entry.fieldsV1['f:spec']?.['f:colour'] !== undefined,
          );
          expect(owners.map((entry) => entry.manager)).toEqual([step.manager]);
        }
      }),
    );
  });

  it('nobody owns what the server writes; status and the rest are owned apart', () => {
    check(
      fc.property(steps, (history) => {
        run(history, (store) => {
          for (const entry of entries(live(store))) {
            const keys = Object.keys(entry.fieldsV1);
            expect(keys).not.toContain('f:apiVersion');
            expect(Object.keys(entry.fieldsV1['f:metadata'] ?? {})).not.toContain('f:name');
            if (entry.subresource === 'status') expect(keys).toEqual(['f:status']);
            else expect(keys).not.toContain('f:status');
            expect(keys.length).toBeGreaterThan(0);
          }
        });
      }),
    );
  });

  it('managers stand sorted by operation, time and name', () => {
    check(
      fc.property(steps, (history) => {
        run(history, (store) => {
          const keys = entries(live(store)).map((entry) =>
            [entry.operation, entry.time ?? '', entry.manager].join('\u0000'),
          );
          expect(keys).toEqual([...keys].sort());
        });
      }),
    );
  });
});

describe('field sets', () => {
  const sets = specs.map((one) => fieldsOf(schemaOf(newStore()), { spec: one }));

  it('survive writing and reading, and obey the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, (left, right) => {
        expect(equalSets(fieldSetFromJson(fieldSetToJson(left)), left)).toBe(true);
        expect(equalSets(union(left, right), union(right, left))).toBe(true);
        expect(equalSets(intersection(left, right), intersection(right, left))).toBe(true);
        expect(equalSets(union(difference(left, right), intersection(left, right)), left)).toBe(true);
        expect(equalSets(difference(left, left), fieldSetFromJson({}))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
