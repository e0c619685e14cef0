import { describe, expect, it } from 'vitest';
import { parseYamlDocument, type YamlNode } from '../../src/yaml/parse-yaml-document.ts';
import { GoError } from '../../src/value/go-error.ts';

/** A node in short: texts in quotes where their value does not say what they are, tags before them. */
function short(node: YamlNode | undefined): unknown {
  switch (node?.kind) {
    case undefined:
      return 'nothing';
    case 'scalar':
      return `${node.tag === '' ? '' : `${node.tag} `}${node.isPlain ? node.value : JSON.stringify(node.value)}`;
    case 'alias':
      return `*${node.name}`;
    case 'list':
      return node.items.map(short);
    case 'map':
      return { map: node.entries.map(([key, value]) => [short(key), short(value)]) };
  }
}

describe('the first document of a YAML text', () => {
  it.each([
    { name: 'nothing', text: '', want: 'nothing' },
    { name: 'a comment', text: '# nothing\n', want: 'nothing' },
    { name: 'a document without content', text: '---\n', want: '' },
    { name: 'a text over several lines', text: 'a\n b\n\n c\n', want: 'a b\nc' },
    { name: 'a byte order mark', text: '\xef\xbb\xbfa', want: 'a' },
    {
      name: 'a map',
      text: 'a: 1\nb:\n  c:\n',
      want: {
        map: [
          ['a', '1'],
          ['b', { map: [['c', '']] }],
        ],
      },
    },
    { name: 'a list below its key', text: 'a:\n- b\n-\n', want: { map: [['a', ['b', '']]] } },
    { name: 'lists in a list', text: '- - a\n  - b\n- c\n', want: [['a', 'b'], 'c'] },
    { name: 'a key that is a list', text: '? [a]\n: b\n', want: { map: [[['a'], 'b']] } },
    { name: 'a pair in a list', text: '[a: b, c]', want: [{ map: [['a', 'b']] }, 'c'] },
    { name: 'a word with a colon in brackets', text: '[a:b, 2:]', want: ['a:b', '2:'] },
    {
      name: 'brackets over lines',
      text: '{a: [b,\n c], d}\n',
      want: {
        map: [
          ['a', ['b', 'c']],
          ['d', ''],
        ],
      },
    },
    { name: 'quotes', text: '"a\\u00e9\\\n  b" ', want: JSON.stringify('a\xc3\xa9b') },
    { name: 'single quotes', text: "'it''s\n\n a'", want: JSON.stringify("it's\na") },
    { name: 'a literal block', text: 'a: |\n  b\n   c\n\n', want: { map: [['a', '"b\\n c\\n"']] } },
    { name: 'a folded block that keeps its end', text: '>+\n a\n b\n\n  c\n\n', want: '"a b\\n\\n c\\n\\n"' },
    { name: 'a block that strips its end, indented by 2', text: '|2-\n   a\n', want: '" a"' },
    { name: 'a block at the end of the text', text: '|\n a', want: '"a"' },
    {
      name: 'tags',
      text: '[!!str 1, ! 2, !<x> y, !e z]',
      want: ['tag:yaml.org,2002:str 1', '! 2', 'x "y"', '!e "z"'].map(tagged),
    },
    { name: 'a tag with a prefix', text: '%TAG !e! x:\n---\n!e!y z', want: 'x:y "z"' },
    {
      name: 'an anchor and its alias',
      text: 'a: &x 1\nb: *x\n',
      want: {
        map: [
          ['a', '1'],
          ['b', '*x'],
        ],
      },
    },
    {
      name: 'the line breaks of YAML 1.1',
      text: 'a: b\xc2\x85c: d\r\ne: f\r',
      want: {
        map: [
          ['a', 'b'],
          ['c', 'd'],
          ['e', 'f'],
        ],
      },
    },
    { name: 'text behind the document', text: 'a\n...\n}}', want: 'a' },
  ])('$name', ({ text, want }) => {
    expect(short(parseYamlDocument(text))).toEqual(want);
  });

  it('has a list that an alias inside of it names', () => {
    const list = parseYamlDocument('&a [*a]');
    expect(list?.kind === 'list' && list.items[0]?.kind === 'alias' && list.items[0].target).toBe(list);
  });
});

/** `!!str 1` is no plain value any more. */
function tagged(text: string): string {
  return text.startsWith('tag:') ? text.replace(/ (.*)$/, ' "$1"') : text;
}

describe('a YAML text is refused with the message of go-yaml,', () => {
  it.each([
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['a\nb: c: d', 'yaml: line 2: mapping values are not allowed in this context'],
    ['spec:\n  a: [1\n', "yaml: line 2: did not find expected ',' or ']'"],
    ['a: {b: c', "yaml: line 1: did not find expected ',' or '}'"],
    ['- a\nb: c', "yaml: line 1: did not find expected '-' indicator"],
    ['a: b\n c\n d: e', 'yaml: line 3: mapping values are not allowed in this context'],
    ['a: "b\n', 'yaml: line 2: found unexpected end of stream'],
    ['a: "\\q"', 'yaml: found unknown escape character'],
    ['a: "\\ud800"', 'yaml: found invalid Unicode character escape code'],
    ['\ta: b', 'yaml: found character that cannot start any token'],
    ['a: @b', 'yaml: found character that cannot start any token'],
    ['a: |0\n b', 'yaml: found an indentation indicator equal to 0'],
    ['a: |\n \tb', 'yaml: line 2: found a tab character where an indentation space is expected'],
    ['*a', "yaml: unknown anchor 'a' referenced"],
    ['!e!x a', 'yaml: found undefined tag handle'],
    ['%YAML 1.2\n---\na', 'yaml: found incompatible YAML document'],
    ['%FOO\n---\na', 'yaml: found unknown directive name'],
    ['%YAML 1.1\na', 'yaml: line 1: did not find expected <document start>'],
    ['a\nb:\n- c\nd', 'yaml: line 2: mapping values are not allowed in this context'],
    [`${'k'.repeat(1025)}: v`, 'yaml: mapping values are not allowed in this context'],
  ])('%j', (text, error) => {
    expect(() => parseYamlDocument(text)).toThrow(new GoError(error));
  });

  it('and where it is nested deeper than Berth goes', () => {
    expect(() => parseYamlDocument('['.repeat(5000))).toThrow(/nested more than 500 levels deep/);
  });
});
