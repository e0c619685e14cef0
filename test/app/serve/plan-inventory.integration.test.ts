import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** Without access to the hub: what one process wrote, another plans on. */
describe('a plan on an inventory', () => {
  let fleet: ServedFleet;
  let file: (name: string) => string;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    file = (name) => join(fleet.dataDir, name);
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    await fleet.serve({
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }],
      embedded: false,
    });
    await fleet.published('web');
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, 'Retire four clusters');
  });
  afterEach(() => fleet.close());

  const plan = (...args: string[]) => fleet.berth('plan', '--base', 'main', '--head', 'retire', ...args);

  it('says what a plan on the hub says, and how old the inventory is', async () => {
    const { kubeconfig } = fleet.hub;
    const made = await fleet.berth('snapshot', '--new-key', file('inventory.key'));
    expect(made).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(statSync(file('inventory.key')).mode & 0o777).toBe(0o600);
    expect(await fleet.berth('snapshot', '--new-key', file('inventory.key'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists already, and is not overwritten'),
    });
    const written = await fleet.berth(
      ...['snapshot', '--kubeconfig', kubeconfig, '--key', file('inventory.key'), '--file', file('hub.json')],
    );
    expect(written).toEqual({ code: 0, stdout: '', stderr: '' });
    const { takenAt } = (
      JSON.parse(readFileSync(file('hub.json'), 'utf8')) as { inventory: Plan & { takenAt: string } }
    ).inventory;

    const signed = ['--inventory', file('hub.json'), '--public-key', file('inventory.key.pub')];
    const there = await plan('--kubeconfig', kubeconfig, '--now', takenAt, '-o', 'json');
    const here = await plan(...signed, '--max-age', '1h', '-o', 'json');
    const [onHub, onInventory] = [there, here].map(({ stdout }) => JSON.parse(stdout) as Plan);
    expect(onHub?.placements[0]?.held?.reason).toBe('RemovalBudgetExceeded');
    const [note, ...rest] = onInventory?.notEvaluated ?? [];
    expect({ ...onInventory, notEvaluated: rest }).toEqual(onHub);
    expect(here.code).toBe(there.code);
    expect(note).toMatch(
      /^The plan uses the state of the hub less than a minute ago, at \S+Z: an inventory of https:\S+, written by Berth \S+\. /,
    );
    expect(note).not.toContain('Nobody checked');
    // The same file gives the same plan, as often as it is asked.
    expect((await plan(...signed, '-o', 'json')).stdout).toBe(here.stdout);
    expect((await plan('--inventory', file('hub.json'))).stdout).toContain('Its author was not verified');
  });

  it('is refused for a file that is broken, not signed, too old or beside a hub', async () => {
    await fleet.berth('snapshot', '--kubeconfig', fleet.hub.kubeconfig, '--file', file('hub.json'));
    await fleet.berth('snapshot', '--new-key', file('other.key'));
    const text = readFileSync(file('hub.json'), 'utf8');
    const refused = async (problem: string, ...args: string[]) => {
      const { code, stdout, stderr } = await plan(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(problem);
    };
    await refused('is not signed', '--inventory', file('hub.json'), '--public-key', file('other.key.pub'));
    await refused('which is older than 1ms', '--inventory', file('hub.json'), '--max-age', '1ms');
    await refused(
      'cannot be used with a hub',
      '--inventory',
      file('hub.json'),
      '--kubeconfig',
      fleet.hub.kubeconfig,
    );
    await refused('needs --inventory FILE', '--max-age', '1h');
    await refused('cannot be read (ENOENT)', '--inventory', file('missing.json'));
    writeFileSync(file('edited.json'), text.replace('"c1"', '"c9"'));
    await refused('was changed after it was written', '--inventory', file('edited.json'));
  });
});
