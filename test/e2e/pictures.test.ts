import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { findProgram } from '@berth/test-kit/needed-program';
import { adminToken } from '../app/serve/dashboard/dashboard-client.ts';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { checkPicture } from './kept-picture.ts';

const program = findProgram('chromium');
const REGIONS = ['eu-north', 'eu-west', 'us-east'];
const NAMES = REGIONS.flatMap((region) =>
  Array.from({ length: 20 }, (_, at) => `${region}-${String(at + 1).padStart(2, '0')}`),
);
const LOST = 'us-east-12';
const MAINTENANCE = [{ key: 'maintenance', value: 'true', effect: 'NoSelect' }];

const clusters = (drained: readonly string[]): string =>
  yaml(
    ...NAMES.map((name, at) =>
      cluster(name, {
        labels: { region: name.slice(0, -3), tier: at % 2 === 0 ? 'gold' : 'silver' },
        ...(drained.includes(name) && { taints: MAINTENANCE }),
      }),
    ),
  );
const gold = { requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } };
const shop = placement('shop', {
  numberOfClusters: 3,
  predicates: [gold],
  prioritizerPolicy: {
    configurations: [{ scoreCoordinate: { builtIn: 'ResourceAllocatableCPU' }, weight: 2 }],
  },
});

/** The pictures of the dashboard in the docs: a fleet of sixty clusters, one of which was drained by a commit. */
describe.skipIf(program === undefined)('the pictures in the docs', () => {
  let fleet: ServedFleet;
  let browser: Browser;
  let page: Page;
  let url = '';
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({
      'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
      'clusters.yaml': clusters(['eu-north-04', 'us-east-10']),
    });
    ({ url = '' } = await fleet.serve({ http: fleet.http() }));
    const { api } = fleet.hub;
    for (const [at, name] of NAMES.entries()) {
      const cpu = String(32 + ((at * 7) % 33));
      const key = { namespace: '', name };
      await fleet.until(() => api.get(MANAGED_CLUSTER, key));
      const status = {
        conditions: [{ ...AVAILABLE, status: name === LOST ? 'Unknown' : 'True' }],
        capacity: { cpu },
        allocatable: { cpu },
      };
      await api.mergePatch(MANAGED_CLUSTER, key, { status }, { subresource: 'status' });
    }
    fleet.git.commit({ 'shop.yaml': yaml(shop) }, 'Run the shop on three clusters');
    await fleet.published('shop');
    const [first = ''] = await fleet.decisions('shop');
    fleet.git.commit({ 'all.yaml': yaml(placement('agents')) }, 'Run the agents everywhere');
    await fleet.published('agents');
    const after = fleet.events.length;
    fleet.git.commit({ 'clusters.yaml': clusters(['eu-north-04', 'us-east-10', first]) }, `Drain ${first}`);
    await fleet.published('shop', after);
    await fleet.published('agents', after);
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext({ viewport: { width: 1100, height: 700 } })).newPage();
    await page.goto(url);
    await page.getByLabel('Token').fill(adminToken(fleet.hub.kubeconfig));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.close();
  });

  it('show a placement: its clusters, the cut, the next in line', async () => {
    await page.goto(`${url}/p/team-a/shop`);
    await page.getByText('The cut:').waitFor();
    await page.locator('td', { hasText: 'maintenance' }).first().waitFor();
    await checkPicture(page, 'dashboard');
  });

  it('show the fleet, and where a placement ran at a moment', async () => {
    await page.goto(`${url}/?p=team-a/shop&t=9`);
    await page.getByText('ran at').waitFor();
    await page.getByText('taint added').waitFor();
    await checkPicture(page, 'fleet');
  });
});

const AVAILABLE = {
  type: 'ManagedClusterConditionAvailable',
  reason: 'ManagedClusterAvailable',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
