import { describe, expect, it } from 'vitest';
import { DEFAULT_YAML_BUDGET, loadDocument } from '../../../src/adapters/yaml/load-document.ts';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');

/** Each level lists the one before ten times: 10^9 strings when written out. */
const BILLION_LAUGHS = `a0: &a0 lol\n${lines(9, (i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`)}\n`;
const MERGE_BOMB = `b0: &b0 {${lines(100, (i) => `k${i}: v,`).replaceAll('\n', ' ')} z: 1}\n${lines(
  200,
  (i) => `m${i}:\n  <<: [*b0]`,
)}\n`;

describe('bombs are stopped before they go off', () => {
  it.each([
    ['billion laughs', BILLION_LAUGHS, 'once its aliases are written out'],
    ['merge bomb', MERGE_BOMB, 'merge'],
    ['a value inside itself', 'a: &a [*a]\n', 'without cycles'],
    ['deep flow nesting', '['.repeat(5000), 'nested deeper than 100'],
    ['deep block nesting', lines(150, (i) => `${' '.repeat(i)}a:`), 'nested deeper than 100'],
    ['many nodes', `[${'1,'.repeat(300_001)}]`, 'more than 300000 nodes'],
    ['many keys', lines(10_001, (i) => `k${i}: 1`), 'more than 10000 keys'],
    ['many aliases', `a: &a 1\nb: [${'*a,'.repeat(1001)}]`, 'more than 1000 aliases'],
    ['a long document', `a: ${'x'.repeat(3 * 1024 * 1024)}`, 'expected at most 3145728'],
  ])('%s', (_name, text, message) => {
    const loaded = loadDocument(text, DEFAULT_YAML_BUDGET);
    expect(loaded).toMatchObject({ ok: false });
    expect(loaded.ok ? '' : loaded.message).toContain(message);
  });

  it('takes 100 levels', () => {
    const text = lines(99, (i) => `${' '.repeat(i)}a:`);
    expect(loadDocument(text, DEFAULT_YAML_BUDGET)).toMatchObject({ ok: true });
  });

  it('takes a CustomResourceDefinition that the API server takes', () => {
    const text = lines(
      2_500,
      (i) => `field${i}:\n  description: ${'generated text '.repeat(70)}\n  type: string`,
    );
    expect(text.length).toBeGreaterThan(2_500_000);
    expect(loadDocument(text, DEFAULT_YAML_BUDGET)).toMatchObject({ ok: true });
  });

  it('refuses a file with too many bytes or documents completely', () => {
    const budget = { ...DEFAULT_YAML_BUDGET, fileBytes: 100, documents: 3 };
    const problem = (text: string) => parseManifests({ file: 'f.yaml', text, budget }).problems[0]?.message;
    expect(problem(`# ${'x'.repeat(100)}`)).toBe('file of 102 characters, expected at most 100');
    expect(problem('---\na\n---\na\n---\na\n---\na\n')).toBe('file of 4 documents, expected at most 3');
  });
});
