import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

async function berth(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(args, io);
  return { code, out: stdout(), err: stderr() };
}

const FLEET = path.resolve('examples/placement-tests/fleet');

function testFile(cases: string): string {
  return `apiVersion: berth.dev/v1alpha1
kind: PlacementTest
metadata: {name: t}
spec:
  fleet: ${FLEET}
  now: "2026-03-01T12:00:00Z"
  cases:
${cases}`;
}

describe('berth test', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'berth-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (text: string, ...options: string[]) => {
    const file = path.join(folder, 'x.placement-test.yaml');
    writeFileSync(file, text);
    return berth('test', file, ...options);
  };

  it('passes the examples and writes JUnit', async () => {
    const junit = path.join(folder, 'junit.xml');
    const { code, out } = await berth('test', 'examples/placement-tests', '--junit', junit);
    expect(out).toMatch(/\n11 passed, 0 failed\n$/);
    expect(code).toBe(0);
    expect(readFileSync(junit, 'utf8')).toContain(
      '<testsuites name="berth test" tests="11" failures="0" errors="0">',
    );
  });

  it('fails with the reason of the decision', async () => {
    const { code, out } = await run(
      testFile(`    - name: silver
      placement: web/checkout
      given:
        - taint: {clusters: [cluster1], key: maintenance, effect: NoSelect}
      expect: {selected: [cluster3, cluster7, cluster1]}
`),
    );
    expect(code).toBe(1);
    expect(out).toContain('cluster3 should be selected: label tier is "silver", wanted "gold"');
    expect(out).toContain('cluster7 should be selected: outranked: 30 points, the last of the 3 selected, ');
    expect(out).toContain(
      'cluster1 should be selected: taint maintenance:NoSelect, there for 0s: is not tolerated',
    );
    expect(out).toContain('0 passed, 1 failed\n');
  });

  it.each([
    [
      'a cluster that is not there',
      '    - {name: one, placement: web/checkout, given: [{loseClusters: {clusters: [z]}}], expect: {}}',
      'given[0]: there is no cluster z',
    ],
    [
      'a placement that is not there',
      '    - {name: one, placement: web/nope, expect: {}}',
      'there is no Placement web/nope, the fleet has web/checkout, web/metrics',
    ],
    [
      'an expectation with a typo',
      '    - {name: one, placement: web/checkout, expect: {selectd: [cluster1]}}',
      'spec.cases[0].expect.selectd',
    ],
    [
      'a step that says two things',
      '    - {name: one, placement: web/checkout, given: [{numberOfClusters: 1, passTime: 5s}], expect: {}}',
      'given[0]: a step has exactly one field, got numberOfClusters, passTime',
    ],
    [
      'a mistyped expectation',
      '    - {name: one, placement: web/checkout, expect: {count: many}}',
      'x.placement-test.yaml:8:',
    ],
  ])('is broken by %s', async (_name, cases, message) => {
    const { code, out } = await run(testFile(cases));
    expect(code).toBe(1);
    expect(out).toContain(message);
    expect(out).toMatch(/ 1 broken\n$/);
  });

  it('is broken by a fleet with errors', async () => {
    writeFileSync(path.join(folder, 'bad.yaml'), 'apiVersion: v1\nkind: [\n');
    const { code, out } = await run(
      testFile('    - {name: one, placement: web/checkout, expect: {}}\n').replace(FLEET, 'bad.yaml'),
    );
    expect(code).toBe(1);
    expect(out).toContain('bad.yaml');
  });

  it('says when the JUnit file cannot be written', async () => {
    const { code, err } = await berth(
      'test',
      'examples/placement-tests',
      '--junit',
      path.join(folder, 'no', 'x.xml'),
    );
    expect(code).toBe(1);
    expect(err).toContain('cannot be written');
  });

  it('does not pass when there is nothing to run', async () => {
    const empty = mkdtempSync(path.join(os.tmpdir(), 'berth-empty-'));
    const { code, err } = await berth('test', empty);
    rmSync(empty, { recursive: true });
    expect(code).toBe(1);
    expect(err).toContain('no *.placement-test.yaml or *.rule-test.yaml below');
  });
});
