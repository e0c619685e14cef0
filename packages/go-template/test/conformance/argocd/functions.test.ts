import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { renderFastTemplate } from '../../../src/render-fast-template.ts';
import { renderGoTemplate } from '../../../src/render-go-template.ts';
import { StringMap, TemplateError, type TemplateValue } from '../../../src/values.ts';
import { FUNCTIONS_SINCE_3_6 } from '../../../../applicationset/test/conformance/argocd/since-3-6.ts';

interface Recorded {
  readonly id: string;
  readonly engine?: 'go' | 'fasttemplate';
  readonly template: string;
  readonly params: { readonly [key: string]: TemplateValue };
  readonly stringMaps?: readonly string[];
  readonly options?: readonly string[];
  readonly output?: string;
  readonly error?: string;
}

type Answer = Pick<Recorded, 'output' | 'error'>;

function recorded(file: string): readonly Recorded[] {
  return gunzipSync(readFileSync(new URL(file, import.meta.url)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}

/** The parameters with those marked that are a Go map of strings. */
function marked({ params, stringMaps = [] }: Recorded): TemplateValue {
  const copy = structuredClone(params) as Record<string, unknown>;
  for (const path of stringMaps) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce<Record<string, unknown> | undefined>(
      (value, name) => value?.[name] as Record<string, unknown> | undefined,
      copy,
    );
    if (parent?.[last] !== undefined) parent[last] = new StringMap(parent[last] as Record<string, string>);
  }
  return copy as TemplateValue;
}

function answer(given: Recorded): Answer {
  try {
    if (given.engine === 'fasttemplate') return { output: renderFastTemplate(given.template, given.params) };
    return { output: renderGoTemplate(given.template, marked(given), given.options ?? []) };
  } catch (error) {
    if (error instanceof TemplateError) return { error: error.message };
    throw error;
  }
}

function expected({ id, output, error }: Recorded): Answer {
  return FUNCTIONS_SINCE_3_6[id] ?? (output === undefined ? { error: error ?? '' } : { output });
}

describe.each([
  { file: './functions.jsonl.gz', outputs: 684, errors: 109 },
  { file: './own-functions.jsonl.gz', outputs: 1118, errors: 182 },
])('the recorded renderings of $file', ({ file, outputs, errors }) => {
  const cases = recorded(file);

  it('are all there', () => {
    expect(cases.filter(({ output }) => output !== undefined)).toHaveLength(outputs);
    expect(cases.filter(({ error }) => error !== undefined)).toHaveLength(errors);
  });

  it('are what the engine gives, byte for byte, the texts of errors included', () => {
    const different = cases.flatMap((given) => {
      const [want, got] = [expected(given), answer(given)];
      return want.output === got.output && want.error === got.error ? [] : [{ id: given.id, want, got }];
    });
    expect(different).toEqual([]);
  });
});
