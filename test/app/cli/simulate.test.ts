import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { comparable, readCases } from '../../../packages/placement/test/conformance/compare-case.ts';
import type { CaseResult } from '../../../packages/placement/src/case/case-result.ts';
import { makeCliIo } from '../cli-harness.ts';

interface Answer {
  readonly name: string | null;
  readonly error?: string;
  readonly results: CaseResult[];
}

async function simulate(lines: readonly string[]): Promise<{ code: number; answers: Answer[] }> {
  const { io, stdout } = makeCliIo({ stdin: Readable.from([lines.join('\n')]) });
  const code = await runCli(['simulate'], io);
  const answers = stdout().split('\n').filter(Boolean);
  return { code, answers: answers.map((line) => JSON.parse(line) as Answer) };
}

describe('berth simulate', () => {
  it.each(['bad', 'tolerations', 'worlds'])('answers recorded cases from outside: %s', async (group) => {
    const recorded = readCases(group).slice(0, 40);
    const { code, answers } = await simulate(recorded.map((one) => JSON.stringify(one.case)));
    expect(code).toBe(0);
    expect(answers.map(({ name }) => name)).toEqual(recorded.map((one) => one.case.name));
    answers.forEach(({ results }, at) => {
      const expected = recorded[at]?.expected ?? [];
      expect(results.map((result, i) => comparable(result, expected[i] as CaseResult))).toEqual(
        expected.map((wanted, i) => comparable(wanted, results[i] as CaseResult)),
      );
    });
  });

  it('answers what is no case with the line and the field, and goes on', async () => {
    const good = '{"name":"empty","now":"2026-03-01T12:00:00Z"}';
    const { code, answers } = await simulate([
      '{"name":',
      '[]',
      '{"name":"x","now":"yesterday"}',
      '{"name":"x","now":"2026-03-01T12:00:00Z","placements":[{"metadata":{}}],"clusters":{}}',
      '{"name":"x","now":"2026-03-01T12:00:00Z","clusters":[null]}',
      '',
      good,
    ]);
    expect(code).toBe(1);
    expect(answers).toEqual([
      { name: null, error: expect.stringMatching(/^line 1: not JSON/) },
      { name: null, error: expect.stringMatching(/^line 2: case: /) },
      { name: null, error: expect.stringMatching(/^line 3: now: expected an RFC 3339/) },
      { name: null, error: expect.stringMatching(/^line 4: placements\.0\.metadata\.name: .*clusters: /) },
      { name: null, error: expect.stringMatching(/^line 5: clusters\.0: /) },
      { name: 'empty', results: [] },
    ]);
  });

  it('says which file cannot be read', async () => {
    const { io, stdout, stderr } = makeCliIo();
    expect(await runCli(['simulate', '/nonexistent/cases.jsonl'], io)).toBe(1);
    expect(stdout()).toBe('');
    expect(stderr()).toContain('error: /nonexistent/cases.jsonl: cannot be read: ENOENT');
  });

  it('takes hostile names for names', async () => {
    const line = `{"name":"hostile","now":"2026-03-01T12:00:00Z",
      "placements":[{"metadata":{"name":"__proto__","namespace":"constructor"},"spec":{"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"toString":"x"}}}}]}}],
      "clusters":[{"metadata":{"name":"__proto__","labels":{"toString":"x","__proto__":"y"}}},{"metadata":{"name":"hasOwnProperty"}}],
      "clusterSets":[{"metadata":{"name":"all"},"spec":{"clusterSelector":{"selectorType":"LabelSelector","labelSelector":{}}}}],
      "bindings":[{"metadata":{"name":"all","namespace":"constructor"}}]}`.replaceAll('\n', ' ');
    const { code, answers } = await simulate([line]);
    expect(code).toBe(0);
    expect(answers[0]?.results[0]?.selected).toEqual(['__proto__']);
    expect(Object.keys(answers[0]?.results[0]?.scores ?? {})).toEqual(['__proto__']);
  });
});
