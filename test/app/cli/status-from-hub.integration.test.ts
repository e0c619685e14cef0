import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENT } from '@berth/kube/model/kinds';
import { readAnnouncedSettings } from '../../../src/controllers/leadership/announced-settings.ts';
import { baseFiles, placement, retired, yaml } from '../serve/fleet-fixture.ts';
import { ServedFleet } from '../serve/served-fleet.ts';

describe('berth status without a token', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
  });
  afterEach(() => fleet.close());

  const status = (...flags: string[]) =>
    fleet.berth('status', '--kubeconfig', fleet.hub.kubeconfig, ...flags);

  it('reads from the hub what controllers announced, published and hold', async () => {
    expect((await status()).stdout).toContain('No controller has announced itself on the hub\n');
    await fleet.serve({
      announcement: { name: 'berth-controller-test', identity: 'test' },
      sources: [{ name: 'clusters', url: fleet.git.path }],
    });
    await fleet.published('web');
    await expect.poll(async () => (await readAnnouncedSettings(fleet.hub.api)).length).toBe(1);
    const running = await status();
    expect(running.stdout).toMatch(
      /^Controller berth-controller-test runs, decides all placements; last sign 20/,
    );
    expect(running.stdout).toMatch(/\nteam-a\/web +6 *\n/);
    expect(running.stdout).toContain('Only the controller knows which commit it read');
    expect(running.code).toBe(0);
    fleet.git.commit({ 'clusters.yaml': retired(5) });
    await fleet.held('web', 'True');
    const held = await status();
    expect(held.stdout).toMatch(/\nteam-a\/web +6 +RemovalBudgetExceeded\n/);
    expect(held.stdout).toMatch(/\nteam-a\/web: 5 of 6 clusters would be removed/);
    expect(held.code).toBe(1);
    const reasons = async () => {
      const { items } = await fleet.hub.api.list(EVENT, { namespace: 'team-a' });
      return items.map((event) => [event['reason'], event['action']].join(' '));
    };
    await expect.poll(reasons).toContain('Held RemovalBudgetExceeded');
    await fleet.stop();
    const stopped = JSON.parse((await status('-o', 'json')).stdout) as { controllers: object[] };
    expect(stopped.controllers).toMatchObject([{ name: 'berth-controller-test', isRunning: false }]);
  });

  it.each([
    { flags: ['--server', 'http://127.0.0.1:1'], want: '--server: needs --token-file' },
    {
      flags: ['--token-file', 'tokens', '--context', 'a'],
      want: '--kubeconfig: has no effect with --token-file',
    },
  ])('refuses $flags', async ({ flags, want }) => {
    const { code, stderr } = await fleet.berth('status', ...flags);
    expect([code, stderr]).toEqual([1, expect.stringContaining(want)]);
  });
});
