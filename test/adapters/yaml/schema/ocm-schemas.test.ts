import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../../../src/adapters/yaml/schema/check.ts';
import { lookUpKind } from '../../../../src/adapters/yaml/manifest-check.ts';
import { withReplacements } from '../../../../src/adapters/yaml/schema/ocm-schemas.ts';
import { integer } from '../../../../packages/ocm/src/definition/schema-notation.ts';
import { apiVersionOf, MANAGED_CLUSTER, MANIFEST_WORK_REPLICA_SET, PLACEMENT } from '@berth/kube/model/kinds';
import type { KindInfo } from '@berth/kube/model/kinds';

/** What is wrong with the fields of an object, as `path: message`. */
function problemsOf(info: KindInfo, fields: Readonly<Record<string, unknown>>): readonly string[] {
  const found = lookUpKind(apiVersionOf(info), info.kind);
  if (found.state !== 'known') throw new Error(`${info.kind} is not known`);
  const metadata = { name: 'a', ...(info.namespaced ? { namespace: 'n' } : {}) };
  const object = { apiVersion: apiVersionOf(info), kind: info.kind, metadata, ...fields };
  return checkSchema(object, found.known.schema).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('the schemas of manifests, from those of a hub', () => {
  it.each([
    [
      'a pattern by its name',
      PLACEMENT,
      { scoreRateLimit: '30d' },
      'spec.scoreRateLimit: got string "30d", expected a duration such as 30s, 5m or 1h',
    ],
    [
      'the words of an enum',
      PLACEMENT,
      { sortBy: 'Name' },
      'spec.sortBy: got string "Name", expected ClusterName, Score',
    ],
    [
      'a word where OCM takes any text',
      PLACEMENT,
      { prioritizerPolicy: { mode: 'Sum' } },
      'spec.prioritizerPolicy.mode: got string "Sum", expected Additive, Exact, ""',
    ],
    [
      'the lowest number',
      PLACEMENT,
      { numberOfClusters: -1 },
      'spec.numberOfClusters: got number -1, expected an integer from 0 to 2147483647',
    ],
    [
      'the range of 32 bits',
      PLACEMENT,
      {
        spreadPolicy: {
          spreadConstraints: [{ topologyKey: 'r', topologyKeyType: 'Label', maxSkew: 2147483648 }],
        },
      },
      'spec.spreadPolicy.spreadConstraints.0.maxSkew: got number 2147483648, expected an integer from 1 to 2147483647',
    ],
    [
      'a required field',
      MANAGED_CLUSTER,
      { taints: [{ effect: 'NoSelect' }] },
      'spec.taints.0.key: is missing',
    ],
    [
      'a second entry of a list by keys',
      MANIFEST_WORK_REPLICA_SET,
      {
        placementRefs: [{ name: 'p' }],
        manifestWorkTemplate: {
          manifestConfigs: [
            {
              resourceIdentifier: { resource: 'r', name: 'n' },
              conditionRules: [
                { condition: 'A', type: 'CEL' },
                { condition: 'A', type: 'CEL' },
              ],
            },
          ],
        },
      },
      'spec.manifestWorkTemplate.manifestConfigs.0.conditionRules.1: got a second entry with condition string "A"',
    ],
    [
      'an object that is embedded',
      MANIFEST_WORK_REPLICA_SET,
      { placementRefs: [{ name: 'p' }], manifestWorkTemplate: { workload: { manifests: [{ kind: 'A' }] } } },
      'spec.manifestWorkTemplate.workload.manifests.0.apiVersion: is missing',
    ],
  ])('check %s', (_what, info, spec, problem) => {
    expect(problemsOf(info, { spec })).toContain(problem);
  });

  it('let a field with a default be left out', () => {
    const configurations = [{ scoreCoordinate: { builtIn: 'Steady' } }];
    expect(problemsOf(PLACEMENT, { spec: { prioritizerPolicy: { configurations } } })).toEqual([]);
  });

  it('refuse a replacement for no field', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect(() => withReplacements(schema, { '.a': integer(), '.b': integer() })).toThrow('no field .b');
  });
});
