import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

const EXAMPLE = 'examples/guard-rules';
const FLEET = path.resolve(EXAMPLE, 'fleet');
const RULES = path.resolve(EXAMPLE, '.berth/rules.yaml');

async function berth(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(args, io);
  return { code, out: stdout(), err: stderr() };
}

function testFile(cases: string, more = `  rules: ${RULES}\n`): string {
  return `apiVersion: berth.dev/v1alpha1
kind: RuleTest
metadata: {name: t}
spec:
  fleet: ${FLEET}
${more}  now: "2026-03-01T12:00:00Z"
  cases:
${cases}`;
}

describe('berth test with tests of guard rules', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'berth-rule-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (text: string, ...options: string[]) => {
    const file = path.join(folder, 'x.rule-test.yaml');
    writeFileSync(file, text);
    return berth('test', file, ...options);
  };

  it('passes the example, as its README says', async () => {
    const { code, out } = await berth('test', EXAMPLE);
    expect(code).toBe(0);
    expect(readFileSync(path.join(EXAMPLE, 'README.md'), 'utf8')).toContain(
      `$ berth test ${EXAMPLE}\n${out}`,
    );
  });

  it('fails where rules say something else, with the place of the case', async () => {
    const { code, out } = await run(
      testFile(`    - name: drained
      assume: {drain: [cluster1]}
      expect: {verdict: deny, broken: [few-removals]}
`),
    );
    expect(code).toBe(1);
    expect(out).toContain(`FAIL   drained\n           ${path.join(folder, 'x.rule-test.yaml')}:9:7\n`);
    expect(out).toContain('the rules deny: got allow\n');
    expect(out).toContain('rule few-removals should be broken: it is kept\n');
    expect(out).toMatch(/\n0 passed, 1 failed\n$/);
  });

  it.each(['json', 'yaml'] as const)('prints the same as %s', async (format) => {
    const { code, out } = await run(
      testFile(`    - {name: one, assume: {drain: [cluster1]}, expect: {verdict: allow}}
    - {name: two, assume: {drain: [cluster1]}, expect: {verdict: warn}}
    - {name: three, assume: {drain: [nope]}, expect: {}}
`),
      '-o',
      format,
    );
    expect(code).toBe(1);
    const report = format === 'json' ? JSON.parse(out) : load(out);
    expect(report).toMatchObject({
      passed: 1,
      failed: 1,
      broken: 1,
      tests: [
        {
          name: 't',
          cases: [
            { name: 'one', outcome: 'passed', failures: [], location: { line: 9, column: 7 } },
            { name: 'two', outcome: 'failed', failures: ['the rules warn: got allow'] },
            { name: 'three', outcome: 'broken', error: expect.stringContaining('no cluster has this name') },
          ],
        },
      ],
    });
  });

  it('prints JUnit', async () => {
    const { out } = await berth('test', EXAMPLE, '-o', 'junit');
    expect(out).toContain('<testsuites name="berth test" tests="5" failures="0" errors="0">');
  });

  it.each([
    [
      'a rule that is not there',
      '{name: one, expect: {kept: [nope]}}',
      'there is no rule nope, there are few-removals, no-move-out-of-pci, payments-in-two-regions',
    ],
    [
      'an object that is not there',
      '{name: one, remove: [{kind: ManagedCluster, name: z}], expect: {}}',
      'remove[0]: there is no ManagedCluster z in the fleet',
    ],
    [
      'a patch that makes an object wrong',
      '{name: one, patches: [{target: {kind: Placement, namespace: team-a, name: metrics}, patch: {spec: {numberOfClusters: many}}}], expect: {}}',
      'spec.numberOfClusters',
    ],
    [
      'an object that is wrong',
      '{name: one, objects: [{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: x}, spec: {numberOfClusters: many}}], expect: {}}',
      '(spec.cases[0]) objects',
    ],
    ['a folder that is not there', '{name: one, overlay: nope, expect: {}}', 'nope: cannot be read'],
    [
      'an assumption that cannot be read',
      '{name: one, assume: {taint: [cluster1]}, expect: {}}',
      'expected --taint CLUSTER:KEY',
    ],
    ['an expectation with a typo', '{name: one, expect: {brokn: [few-removals]}}', 'x.rule-test.yaml:9:28: '],
  ])('is broken by %s', async (_name, text, message) => {
    const { code, out } = await run(testFile(`    - ${text}\n`));
    expect(out).toContain(message);
    expect(code).toBe(1);
    expect(out).toMatch(/ 1 broken\n$/);
  });

  it('finds the rules in the folder of the test or above, and says where they are wrong', async () => {
    const below = path.join(folder, 'repo', 'tests');
    mkdirSync(below, { recursive: true });
    mkdirSync(path.join(folder, 'repo', '.berth'), { recursive: true });
    const rules = path.join(folder, 'repo', '.berth', 'rules.yaml');
    const file = path.join(below, 'a.rule-test.yaml');
    writeFileSync(file, testFile('    - {name: one, expect: {kept: [calm]}}\n', ''));
    writeFileSync(rules, 'rules:\n- {name: calm, expression: size(plan.removed) == 0, message: Calm.}\n');
    expect(await berth('test', file)).toMatchObject({ code: 0 });
    writeFileSync(rules, 'rules:\n- {name: calm, expression: size(plan.removed, message: Calm.}\n');
    const { code, out } = await berth('test', file);
    expect(code).toBe(1);
    expect(out).toContain(`${rules}:2:`);
    rmSync(rules);
    expect((await berth('test', file)).out).toContain(
      '.berth/rules.yaml: expected one in the folder of the test',
    );
  });
});
