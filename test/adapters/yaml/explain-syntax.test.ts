import { describe, expect, it } from 'vitest';
import { asNamed, parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { readContent } from '../../../src/controllers/sources/manifests/read-content.ts';

const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n';
const JSON_HEAD = '{"apiVersion": "v1", "kind": "ConfigMap",\n';

/** `line:column: message [hint]` of each problem. */
function problemsOf(file: string, text: string): string[] {
  return asNamed(file, parseManifests({ file, text })).problems.map(
    ({ location, message, hint }) =>
      `${location?.line}:${location?.column}: ${message}${hint === undefined ? '' : ` [${hint}]`}`,
  );
}

describe('what is said of a text that cannot be read', () => {
  it.each([
    [
      'a line that is indented too deep',
      `${HEAD}  name: web\n   namespace: shop\n`,
      '5:4: is indented deeper than the line above it, which has a value already: got 3 spaces [indent it like the line above, with 2 spaces]',
    ],
    [
      'a block that is indented too deep',
      `${HEAD}  name: web\nspec:\n  clusters: 1\n\n    # the sets\n    sets: [a]\n`,
      '9:5: is indented deeper than the line above it, which has a value already: got 4 spaces [indent it like the line above, with 2 spaces]',
    ],
    [
      'a line that is indented too little',
      `${HEAD}  name: web\n namespace: shop\n`,
      '5:2: is indented like no line above it: got 1 space, expected 0 or 2 [align the line with its neighbours, and indent what belongs to a key deeper than the key]',
    ],
    [
      'a text with a colon',
      `${HEAD}  name: web\n  annotations:\n    note: hello: world\n`,
      '6:11: got ": " inside of a text [put text that contains ": " in quotes]',
    ],
    [
      'a list on the line of its key',
      `${HEAD}  name: web\ndata:\n  a: - b\n`,
      '6:6: got a list on the line of its key [put the list on the lines below the key]',
    ],
    [
      'a tab',
      `${HEAD}\tname: web\n`,
      '4:1: got a tab in the indentation, expected spaces [indent with spaces: YAML forbids tabs there]',
    ],
    [
      'a key twice',
      `${HEAD}  name: web\n  name: db\n`,
      '5:3: got the key name a second time [remove one of the two: tools disagree on which one counts]',
    ],
    [
      'a double quote that is not closed',
      `${HEAD}  name: "web\n  namespace: shop\n`,
      '4:9: opens a quote " that is not closed [close it with "]',
    ],
    [
      'a single quote that is not closed',
      `${HEAD}  # it's here\n  name: it''s 'web\n`.replace("it''s ", ''),
      "5:9: opens a quote ' that is not closed [close it with ']",
    ],
    [
      'a quote inside of quotes',
      `${HEAD}  name: 'it's'\n`,
      "4:13: got text after the closing quote [inside single quotes write a quote as two (''), or put the text in double quotes]",
    ],
    [
      'a quote inside of double quotes',
      `${HEAD}  name: "a"b"\n`,
      '4:12: got text after the closing quote [inside double quotes write a quote as \\", or put the text in single quotes]',
    ],
    [
      'a brace that is not closed',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, labels: {a: "}"}\ndata: {}\n',
      '3:11: opens a bracket { that is not closed [close it with }]',
    ],
    [
      'a bracket that is not closed, below a text with brackets',
      `${HEAD}  name: web\ndata:\n  text: |\n    a: [b\n  x: [a, b\n  y: c\n`,
      '8:6: opens a bracket [ that is not closed [close it with ]]',
    ],
    [
      'no space after the colon',
      `${HEAD}  name:web\n  namespace: shop\n`,
      '4:3: got no space after the colon [write "name: web"]',
    ],
    [
      'no space after the colon of the only key',
      `${HEAD}  name:web\n`,
      '4:3: metadata: got string "name:web", expected a mapping [write "name: web"]',
    ],
    [
      'a character that a text cannot start with',
      `${HEAD}  name: @web\n`,
      '4:9: got @ at the start of a text without quotes [put text that begins with @, ` or % in quotes]',
    ],
    [
      'an asterisk',
      `${HEAD}  name: *.example.org\n`,
      '4:9: got *.example.org, which repeats what &.example.org names, and nothing has this name [put text that begins with * in quotes]',
    ],
    [
      'a merge conflict',
      `${HEAD}  name: web\n<<<<<<< HEAD\n  namespace: a\n=======\n  namespace: b\n>>>>>>> other\n`,
      '5:1: got the marker of a merge conflict, expected a file whose conflicts are resolved [keep one side, and delete the lines that start with <<<<<<<, ======= and >>>>>>>]',
    ],
    ...[
      'spec: {{ .Values.spec }}',
      'spec:\n  a: {{ .Values.a }}',
      'spec:\n  {{- toYaml .Values.a | nindent 2 }}',
    ].map((spec, at): [string, string, string] => [
      `a template that was not rendered: ${spec}`,
      `${HEAD}  name: web\n${spec}\n`,
      expect.stringMatching(
        at === 0
          ? /^5:7: got \{\{ \.Values\.spec \}\}, which is an action of a template that was not rendered \[commit/
          : /^6:\d: got \{\{.*\.Values\.a.*, which is an action of a template that was not rendered \[commit/,
      ) as string,
    ]),
    [
      'a mapping as a key',
      `${HEAD}  name: web\ndata:\n  ? {a: b}\n  : c\n`,
      '8:1: got a mapping as a key, expected a text',
    ],
  ])('%s', (_name, text, want) => {
    expect(problemsOf('a.yaml', text)).toEqual([want]);
  });

  it('blames no template for another error', () => {
    const text = `${HEAD}  name: web\ndata:\n  a: |\n    {{ .x }}\n  b: c: d\n`;
    expect(problemsOf('a.yaml', text)).toEqual([
      '8:6: got ": " inside of a text [put text that contains ": " in quotes]',
    ]);
  });

  it('accepts an action in quotes', () => {
    expect(problemsOf('a.yaml', `${HEAD}  name: web\ndata: {a: "{{ .x }}"}\n`)).toEqual([]);
  });

  it('says of a template that it may be left out', () => {
    const text = `${HEAD}  name: {{ .Release.Name }}\n`;
    expect(readContent('a.yaml', Buffer.from(text)).problems).toMatchObject([
      { severity: 'warning', code: 'yaml.template', hint: expect.stringContaining('leave it out') as string },
    ]);
  });
});

describe('JSON', () => {
  it.each([
    [
      'a comma after the last entry',
      `${JSON_HEAD} "metadata": {"name": "web",}}`,
      '2:29: is no JSON: got "}", expected a key in double quotes [remove the comma before it: JSON has none after the last entry]',
    ],
    [
      'a comma after the last entry of a list',
      `${JSON_HEAD} "metadata": {"name": "web", "finalizers": ["a", ]}}`,
      '2:50: is no JSON: got "]", expected a value [remove the comma before it: JSON has none after the last entry]',
    ],
    [
      'a comment',
      `{\n  // web\n${JSON_HEAD.slice(1)} "metadata": {"name": "web"}}`,
      '2:3: is no JSON: got "/", expected a key in double quotes, or } [remove the comment: JSON has none. A file named .yaml may have them after #]',
    ],
    [
      'a comment of YAML',
      `{ # web\n${JSON_HEAD.slice(1)} "metadata": {"name": "web"}}`,
      '1:3: is no JSON: got "#", expected a key in double quotes, or } [remove the comment: JSON has none. A file named .yaml may have them after #]',
    ],
    [
      'single quotes',
      `${JSON_HEAD} "metadata": {'name': "web"}}`,
      '2:15: is no JSON: got "\'", expected a key in double quotes, or } [put text in double quotes: JSON has no single quotes]',
    ],
    [
      'a key without quotes',
      `${JSON_HEAD} "metadata": {name: "web"}}`,
      '2:15: is no JSON: got "n", expected a key in double quotes, or } [put the key in double quotes]',
    ],
    [
      'a comma that is missing',
      `{"apiVersion": "v1" "kind": "ConfigMap", "metadata": {"name": "web"}}`,
      '1:21: is no JSON: got "\\"", expected a comma, or } [put a comma before this entry]',
    ],
    [
      'the end of the file',
      `${JSON_HEAD} "metadata": {"name": "web"}`,
      '2:29: is no JSON: got the end of the text, expected a comma, or } [close what is open: a bracket or a quote]',
    ],
    [
      'the second of two values',
      `${JSON_HEAD} "metadata": {"name": "web"}}\n${JSON_HEAD} "metadata": {"name": "db",}}`,
      '4:28: is no JSON: got "}", expected a key in double quotes [remove the comma before it: JSON has none after the last entry]',
    ],
  ])('is refused as kubectl refuses it, with its place: %s', (_name, text, want) => {
    expect(problemsOf('a.json', text)).toEqual([want]);
  });

  it('is YAML in a file named .yaml, whichever of two files with the same content is read first', () => {
    const text = `${JSON_HEAD} "metadata": {"name": "web",}}`;
    const parsed = readContent('a.json', Buffer.from(text));
    expect(asNamed('a.yaml', parsed)).toMatchObject({ manifests: [{}], problems: [] });
    expect(asNamed('b.json', parsed)).toMatchObject({
      manifests: [],
      problems: [{ code: 'yaml.json', location: { file: 'b.json', line: 2, column: 29 } }],
    });
  });
});
