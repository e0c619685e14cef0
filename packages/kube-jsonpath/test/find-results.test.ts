import { describe, expect, it } from 'vitest';
import { parseExactJson } from '@berth/runtime/json/exact-json';
import { findResults } from '../src/find-results.ts';
import { formatJsonPathValue, toGoJson } from '../src/format-value.ts';
import { JsonFloat } from '@berth/runtime/json/json-float';
import { parseJsonPath } from '../src/parse-template.ts';

const pod = {
  kind: 'Pod',
  metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'guestbook' } },
  spec: { containers: [{ name: 'a', ports: [80, 81] }, { name: 'b' }, { name: 'c', ports: [90] }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'False' },
    ],
  },
};

function find(template: string, data: unknown = pod): unknown {
  const parsed = parseJsonPath(template);
  if (!parsed.ok) return `syntax: ${parsed.error}`;
  const found = findResults(parsed.template, data);
  return found.ok ? found.results : `evaluation: ${found.error}`;
}

describe('findResults', () => {
  it.each([
    { name: 'a field', template: '{.metadata.name}', want: [['web']] },
    { name: 'text around', template: 'pod/{.metadata.name}!', want: [['pod/'], ['web'], ['!']] },
    { name: 'a missing key', template: '{.spec.nothing.deeper}', want: [[]] },
    {
      name: 'an escaped dot',
      template: '{.metadata.labels.app\\.kubernetes\\.io/name}',
      want: [['guestbook']],
    },
    {
      name: 'a dotted key in brackets',
      template: "{.metadata.labels['app\\.kubernetes\\.io/name']}",
      want: [['guestbook']],
    },
    { name: 'the last item', template: '{.spec.containers[-1].name}', want: [['c']] },
    { name: 'a range', template: '{.spec.containers[0:2].name}', want: [['a', 'b']] },
    { name: 'a step', template: '{.spec.containers[::2].name}', want: [['a', 'c']] },
    { name: 'a union', template: "{.spec.containers[0,2]['name']}", want: [['a', 'c']] },
    { name: 'a union of keys', template: "{['kind', 'metadata'].name}", want: [['web']] },
    { name: 'a filter', template: '{.status.conditions[?(@.type=="Ready")].status}', want: [['True']] },
    { name: 'a filter on existence', template: '{.spec.containers[?(@.ports)].name}', want: [['a', 'c']] },
    {
      name: 'a filter that fails while looking',
      template: '{.spec.containers[?(@.ports[5])].name}',
      want: [['a', 'c']],
    },
    { name: 'recursive descent', template: '{..ports[0]}', want: [[80, 90]] },
    {
      name: 'range and end',
      template: '{range .spec.containers[*]}{.name};{end}.',
      want: [['a'], [';'], ['b'], [';'], ['c'], [';'], ['.']],
    },
    { name: 'an empty range', template: '{range .spec.none[*]}{.name}{end}x', want: [['x']] },
    { name: 'quoted text', template: "{'it\\'s'}", want: [["it's"]] },
    { name: 'end without range', template: '{end}', want: 'evaluation: not in range, nothing to end' },
    {
      name: 'an index out of bounds',
      template: '{.spec.containers[3]}',
      want: 'evaluation: array index out of bounds: index 3, length 3',
    },
    { name: 'no closing brace', template: '{.kind', want: 'syntax: unclosed action' },
    {
      name: '&&',
      template: '{.a[?(@.x=="1" && @.y=="2")]}',
      want: "syntax: unrecognized character in action: U+0026 '&'",
    },
    { name: 'a word that is no key', template: '{kind}', want: 'evaluation: unrecognized identifier kind' },
  ])('$name', ({ template, want }) => {
    expect(find(template)).toEqual(want);
  });

  it('never reaches what an object inherits', () => {
    expect(find('{.constructor}', {})).toEqual([[]]);
    expect(find('{.__proto__}', {})).toEqual([[]]);
    expect(find('{.__proto__.a}', parseExactJson('{"__proto__":{"a":1}}'))).toEqual([[1]]);
  });

  it('stops a path that would visit the whole object again and again', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 200; level++) deep = { a: deep, b: [1, 2, 3] };
    expect(find('{..a..a..a..a}', deep)).toMatch(/^evaluation: .* visits more than/);
  });

  it('refuses nesting without end', () => {
    const nested = `${'[?('.repeat(500)}@.a${')]'.repeat(500)}`;
    expect(find(`{.a${nested}}`)).toMatch(/^syntax: /);
  });
});

describe('formatJsonPathValue', () => {
  it.each([
    { value: 'text', want: 'text' },
    { value: 3, want: '3' },
    { value: 9007199254740993n, want: '9007199254740993' },
    { value: new JsonFloat(1), want: '1' },
    { value: 1e21, want: '1000000000000000000000' },
    { value: 0.00001, want: '1e-05' },
    { value: null, want: '<nil>' },
    { value: { b: [1, '<&>'], a: true }, want: '{"a":true,"b":[1,"\\u003c\\u0026\\u003e"]}' },
  ])('$want', ({ value, want }) => {
    expect(formatJsonPathValue(value)).toBe(want);
  });

  it('writes JSON with keys in byte order, lone surrogates replaced, backslashes kept', () => {
    expect(toGoJson({ '\u{1f600}': 1, '\uffee': 2, a: '\ud800 \\ud800' })).toBe(
      '{"a":"\ufffd \\\\ud800","\uffee":2,"\u{1f600}":1}',
    );
  });
});

describe('parseExactJson', () => {
  it.each([
    ['1', 1],
    ['-0', 0],
    ['9007199254740993', 9007199254740993n],
    ['1.0', new JsonFloat(1)],
    ['1e2', new JsonFloat(100)],
    ['18446744073709551616', new JsonFloat(18446744073709551616)],
    [' { "a" : [ true , null , "x,]}" , {} , [] ] } ', { a: [true, null, 'x,]}', {}, []] }],
  ])('%s', (text, want) => {
    expect(parseExactJson(text)).toEqual(want);
  });

  it('says what is not JSON', () => {
    expect(() => parseExactJson('{"a":}')).toThrow('not valid JSON');
  });
});
