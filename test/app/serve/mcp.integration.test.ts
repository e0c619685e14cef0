import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';
import { baseFiles, namespace, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
let fleet: ServedFleet;

beforeAll(async () => {
  fleet = await ServedFleet.create();
  fleet.git.commit({
    ...baseFiles,
    'namespaces.yaml': yaml(...CLUSTERS.map(namespace)),
    'web.yaml': yaml(placement('web'), replicaSet),
  });
  await fleet.serve({});
  await fleet.published('web');
});
afterAll(() => fleet.close());

interface Answer {
  readonly id: number;
  readonly result?: { readonly isError: boolean; readonly content: readonly { readonly text: string }[] };
}

/** What an assistant reads that calls these tools at once. */
async function ask(...calls: readonly (readonly [tool: string, given?: object])[]): Promise<string[]> {
  const lines = calls.map(([name, given = {}], id) =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } }),
  );
  const stdin = Readable.from([`${lines.join('\n')}\n`]);
  const { io, stdout } = makeCliIo({ stdin, cwd: fleet.git.path, env: process.env });
  expect(await runCli(['mcp', '--kubeconfig', fleet.hub.kubeconfig], io)).toBe(0);
  const answers = stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
  return answers
    .toSorted((a, b) => a.id - b.id)
    .map(({ result }) => `${result?.isError === true ? 'failed: ' : ''}${result?.content[0]?.text ?? ''}`);
}

it('tells an assistant what the commands tell a person', async () => {
  const [placements, explained, refused, planned, history, holds] = await ask(
    ['placements', { namespace: 'team-a' }],
    ['explain', { placement: 'team-a/web', cluster: 'c2' }],
    ['explain', { placement: 'team-a/none' }],
    ['plan', { drain: 'c2' }],
    ['history', { placement: 'team-a/web' }],
    ['holds'],
  );
  expect(placements).toContain('web');
  expect(explained).toContain('c2');
  expect(refused).toMatch(/^failed: .*none/s);
  expect(planned).toContain('drain');
  expect(history).toMatch(/^RECORD/);
  expect(holds).not.toMatch(/^failed/);
});

it('never takes a value for a flag', async () => {
  const [explained, planned] = await ask(
    ['explain', { placement: '--case=/etc/hostname' }],
    ['plan', { head: 'HEAD --report=html=/tmp/berth-mcp-report.html' }],
  );
  expect(explained).toMatch(/^failed: .*NAMESPACE\/NAME/s);
  expect(planned).toMatch(/^failed: /);
});
