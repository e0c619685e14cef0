import { describe, expect, it } from 'vitest';
import { leavesOut } from '@berth/runtime/problem/problem';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { formatLocation } from '@berth/runtime/problem/source-location';

const parse = (text: string) => parseManifests({ file: 'fleet.yaml', text });

/** `line:column severity code message` of each problem. */
function problemsOf(text: string): string[] {
  return parse(text).problems.map(
    (problem) =>
      `${problem.location?.line}:${problem.location?.column} ${problem.severity} ${problem.code} ${problem.message}` +
      (problem.hint === undefined ? '' : ` [${problem.hint}]`),
  );
}

const PLACEMENT = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: web, namespace: team-a}
`;

describe('reading a file', () => {
  it('gives every object with the place where it starts', () => {
    const { manifests, problems } = parse(
      `# fleet\n\n${PLACEMENT}spec: {}\n---\n# second\n---\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n--- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n...\n`,
    );
    expect(problems).toEqual([]);
    expect(manifests.map(({ object, location }) => `${object.kind} ${formatLocation(location)}`)).toEqual([
      'Placement fleet.yaml:3:1',
      'ConfigMap fleet.yaml:10:3',
      'Secret fleet.yaml:13:5',
    ]);
  });

  it.each([
    [
      'JSON',
      `{"apiVersion":"v1","kind":"ConfigMap",\n\t"metadata":{"name":"a"},"data":{"x":"\\ud83d\\ude00\\/"}}`,
    ],
    ['CRLF', 'apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: a\r\ndata:\r\n  x: "😀/"\r\n'],
    [
      'BOM and directive',
      '\ufeff%YAML 1.1\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: 😀/}\n',
    ],
  ])('takes %s', (_name, text) => {
    expect(parse(text)).toMatchObject({
      problems: [],
      manifests: [{ object: { kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '😀/' } } }],
    });
  });

  const named = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  const json = (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}}`;

  // Whether kubectl reads the same was compared with `kubectl label --local -f FILE`.
  it.each([
    ['of a later document', `${named('a')}---\n\ufeff${named('b')}`],
    ['of a later document with a comment', `${named('a')}---\n\ufeff# c\n${named('b')}`],
    ['after a comment and a blank line', `${named('a')}---\n# c\n\n\ufeff${named('b')}`],
    ['before a marker', `\ufeff---\n${named('a')}\ufeff---\n${named('b')}`],
    ['before a directive', `${named('a')}...\n\ufeff%YAML 1.1\n---\n${named('b')}`],
    ['twice', `\ufeff\ufeff${named('a')}---\n\ufeff\ufeff${named('b')}`],
    ['with CRLF', `${named('a')}---\n\ufeff${named('b')}`.replaceAll('\n', '\r\n')],
  ])('skips a byte order mark %s', (_name, text) => {
    const { manifests, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(manifests.map(({ object }) => object.metadata.name)).toEqual(['a', 'b']);
  });

  it('keeps a byte order mark inside of a text', () => {
    const [{ object } = {}] = parse(`${named('a')}data: {x: "1\ufeff"}\n`).manifests;
    expect(object?.['data']).toEqual({ x: '1\ufeff' });
  });

  it.each([
    ['without a space', `${json('a')}${json('b')}`, ['1:1', '1:63']],
    ['on lines', `\n${json('a')}\n${json('b')}\n`, ['2:1', '3:1']],
    ['after a byte order mark', `\ufeff${json('a')} ${json('b')}`, ['1:1', '1:64']],
    ['with a null', `${json('a')}\nnull\n${json('b')}`, ['1:1', '3:1']],
    ['before another document', `${json('a')}${json('b')}\n---\n${named('c')}`, ['1:1', '1:63', '3:1']],
  ])('reads several JSON values, one after the other, %s', (_name, text, places) => {
    const { manifests, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(manifests.map(({ location: { line, column } }) => `${line}:${column}`)).toEqual(places);
  });

  it.each([
    ['a text', `${json('a')} more`],
    ['a comma', `${json('a')},${json('b')}`],
    ['YAML', `${json('a')}\n${named('b')}`],
    ['a value that is cut off', `${json('a')}{"apiVersion":`],
  ])('refuses a JSON value with %s behind it, as kubectl does', (_name, text) => {
    expect(parse(text).manifests).toEqual([]);
    expect(parse(text).problems[0]).toMatchObject({
      severity: 'error',
      code: expect.stringMatching(/^yaml\./) as string,
    });
  });

  it('says of a generated name that Git needs a name', () => {
    expect(problemsOf('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: a-\n')).toEqual([
      '4:17 error schema.generate-name metadata.generateName: got generateName without name, expected metadata.name: with a generated name, each read of Git would be another object',
    ]);
  });

  it('opens Lists; each entry stands alone, at its own place', () => {
    const { manifests, problems } = parse(
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: 5}\n',
    );
    expect(manifests.map(({ location, place }) => [location.line, location.column, place.within])).toEqual([
      [4, 3, ['items', 0]],
    ]);
    expect(problems).toMatchObject([{ location: { line: 9, column: 20 }, object: 'ConfigMap' }]);
  });

  it('keeps __proto__ and constructor as plain keys, through merges too', () => {
    const text =
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {__proto__: evil, constructor: x}\nx: &x {__proto__: {polluted: yes}}\ndata:\n  <<: *x\n';
    const { manifests } = parse(text);
    const object = manifests[0]?.object as unknown as Record<string, Record<string, unknown>>;
    expect(Object.keys(object['data'] ?? {})).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(object['data'])).toBe(Object.prototype);
    expect(Object.keys(object['metadata']?.['labels'] as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('passes unknown kinds through untouched', () => {
    const text =
      'apiVersion: example.com/v3\nkind: Widget\nmetadata: {name: "Odd Name"}\nspec: {any: [1, {x: null}]}\n';
    expect(parse(text).problems).toEqual([]);
    expect(parse(text).manifests[0]?.object).toEqual({
      apiVersion: 'example.com/v3',
      kind: 'Widget',
      metadata: { name: 'Odd Name' },
      spec: { any: [1, { x: null }] },
    });
  });

  it('reads empty labels as absent', () => {
    const { manifests, problems } = parse(
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n',
    );
    expect(problems).toEqual([]);
    expect(manifests[0]?.object.metadata).toEqual({ name: 'a' });
  });
});

describe('reporting problems', () => {
  it.each([
    [
      'every syntax error of a broken document; the next document still counts',
      `a: b: c\nd: 'x\n---\n${PLACEMENT}spec: {}\n`,
      [
        '1:4 error yaml.syntax got ": " inside of a text [put text that contains ": " in quotes]',
        "2:4 error yaml.syntax opens a quote ' that is not closed [close it with ']",
      ],
    ],
    [
      'duplicate keys',
      'a: 1\nb: 2\na: 3\n',
      [
        '3:1 error yaml.duplicate-key got the key a a second time [remove one of the two: tools disagree on which one counts]',
      ],
    ],
    [
      'unknown tags',
      'a: !!python/object x\n',
      ['1:4 error yaml.syntax Unresolved tag: tag:yaml.org,2002:python/object'],
    ],
    [
      'a document that is a list',
      '- a\n',
      ['1:1 warning source.not-an-object is not a Kubernetes object (got a list): skipped'],
    ],
    [
      'a document that is a text',
      'to do\n',
      ['1:1 warning source.not-an-object is not a Kubernetes object (got string "to do"): skipped'],
    ],
    [
      'a list of objects',
      '- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n',
      [
        '1:1 error schema.type got a list with Kubernetes objects, expected one object in each document, or a List',
      ],
    ],
    [
      'what is no Kubernetes object',
      'name: CI\n',
      ['1:1 warning source.not-an-object is not a Kubernetes object (no apiVersion, no kind): skipped'],
    ],
    [
      'a missing kind',
      'apiVersion: v1\nmetadata: {name: a}\n',
      ['1:1 error schema.required kind: is missing'],
    ],
    [
      'a version that is not read',
      'apiVersion: cluster.open-cluster-management.io/v1alpha1\nkind: Placement\nmetadata: {name: a}\n',
      [
        '1:13 error schema.version apiVersion: got string "cluster.open-cluster-management.io/v1alpha1", expected cluster.open-cluster-management.io/v1beta1',
      ],
    ],
    [
      'a mistyped kind',
      'apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placment\nmetadata: {name: a}\n',
      [
        '2:7 error schema.unknown-kind kind: got kind "Placment", which Berth does not know [did you mean Placement?]',
      ],
    ],
    [
      'a mistyped group',
      'apiVersion: cluster.open-cluster-managment.io/v1beta1\nkind: Placement\nmetadata: {name: a}\n',
      [
        '1:13 error schema.unknown-group apiVersion: got group "cluster.open-cluster-managment.io", which Berth does not know [did you mean cluster.open-cluster-management.io?]',
      ],
    ],
    [
      'a List under a name, which kubectl would not open',
      'apiVersion: v1\nkind: List\nmetadata: {name: a}\nitems: []\n',
      ['1:1 error schema.list got a List that cannot be opened, expected items and no metadata.name'],
    ],
    [
      'several schema errors of one object, each at its place',
      `${PLACEMENT}spec:\n  numberOfClusters: "3"\n  clusterSet: [a]\n  predicates:\n  - requiredClusterSelector:\n      labelSelector:\n        matchLabels: {gpu: yes}\n  prioritizerPolicy:\n    configurations:\n    - scoreCoordinate: {type: Builtin}\n      weight: 11\n`,
      [
        '5:21 error schema.type spec.numberOfClusters: got string "3", expected an integer of at least 0 [remove the quotes]',
        '6:3 error schema.unknown-field spec.clusterSet: is not a field of this kind, and the hub refuses the object because of it [did you mean clusterSets?]',
        '10:28 error schema.type spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.gpu: got boolean true, expected a string [put the value in quotes]',
        '13:31 error schema.enum spec.prioritizerPolicy.configurations[0].scoreCoordinate.type: got string "Builtin", expected BuiltIn, AddOn [did you mean BuiltIn?]',
        '14:15 error schema.range spec.prioritizerPolicy.configurations[0].weight: got number 11, expected an integer from -10 to 10',
      ],
    ],
    [
      'a missing namespace, at the metadata',
      'apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata:\n  name: web\nspec: {}\n',
      ['3:1 error schema.required metadata.namespace: is missing'],
    ],
    [
      'a namespace where there is none',
      'apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata:\n  name: c1\n  namespace: x\n',
      [
        '5:3 error schema.scope metadata.namespace: got string "x", expected none: this kind has no namespace [remove the line]',
      ],
    ],
  ])('%s', (_name, text, want) => {
    expect(
      problemsOf(text).map((line) => line.replace('integer from 0 to 2147483647', 'integer of at least 0')),
    ).toEqual(want);
  });

  it('names the first syntax errors of a document and sums up what follows from them', () => {
    const broken = `${PLACEMENT}spec:\n  a: [\n${'  b: c: d\n'.repeat(12)}`;
    const problems = problemsOf(broken);
    expect(problems).toHaveLength(4);
    expect(problems.slice(0, 3).every((problem) => problem.includes(' error yaml.syntax '))).toBe(true);
    expect(problems[3]).toMatch(
      /^\d+:\d+ error yaml\.syntax from here on \d+ more, most likely consequences/,
    );
  });

  it('keeps an object with an unknown field, about which a hub decides, and none with another error', () => {
    const parse = (spec: string) => parseManifests({ file: 'a.yaml', text: `${PLACEMENT}spec: ${spec}\n` });
    const unknown = parse('{numberOfCluster: 1}');
    expect(unknown.manifests).toHaveLength(1);
    expect(unknown.problems.map(({ severity }) => severity)).toEqual(['error']);
    expect(unknown.problems.some(leavesOut)).toBe(false);
    const both = parse('{numberOfCluster: 1, numberOfClusters: x}');
    expect(both.manifests).toHaveLength(0);
    expect(both.problems.some(leavesOut)).toBe(true);
  });

  it('names the commit', () => {
    const commit = 'a'.repeat(40);
    const { problems } = parseManifests({ file: 'f.yaml', text: '[', commit });
    expect(problems[0]?.location).toMatchObject({ file: 'f.yaml', commit });
  });
});
