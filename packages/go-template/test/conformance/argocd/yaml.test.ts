import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { TemplateError } from '../../../src/values.ts';
import { yamlToJson } from '../../../src/yaml-to-json.ts';

interface Recorded {
  readonly text: string;
  readonly json?: string;
  readonly error?: string;
}

const CASES = gunzipSync(readFileSync(new URL('own-yaml.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

function read(text: string): Omit<Recorded, 'text'> {
  try {
    return { json: yamlToJson(text) };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw error;
  }
}

describe('YAML texts, whole and broken,', () => {
  it('are 900 and 1,100', () => {
    expect(CASES.filter(({ json }) => json !== undefined)).toHaveLength(900);
    expect(CASES.filter(({ error }) => error !== undefined)).toHaveLength(1100);
  });

  it('mean what they mean to Go, byte for byte, and are refused in its words', () => {
    const different = CASES.flatMap(({ text, ...want }) => {
      const got = read(text);
      return want.json === got.json && want.error === got.error ? [] : [{ text, want, got }];
    });
    expect(different).toEqual([]);
  });
});
