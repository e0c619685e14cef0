import { mkdirSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProgram } from '@berth/test-kit/needed-program';
import { adminToken, tenantToken } from '../app/serve/dashboard/dashboard-client.ts';
import { baseFiles, cluster, placement, retired, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';

const program = findProgram('chromium');
/** Pictures of each screen, for people to look at. */
const PICTURES = new URL('../../.cache/pictures/', import.meta.url).pathname;
const LOOKS = {
  light: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' as const },
  phone: { viewport: { width: 375, height: 740 } },
};
const HOSTILE = '<img src=x onerror=alert(1)>';

describe.skipIf(program === undefined)('the dashboard in a browser', () => {
  let fleet: ServedFleet;
  let browser: Browser;
  let url = '';
  let admin: string;
  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    fleet = await ServedFleet.create();
    fleet.git.commit({
      ...baseFiles,
      'bad.yaml': yaml(cluster('c7', { taints: [{ key: 'disk', value: 'full', effect: 'NoSelect' }] })),
      'web.yaml': yaml(placement('web', { numberOfClusters: 2 })),
      'all.yaml': yaml(placement('all')),
    });
    ({ url = '' } = await fleet.serve({ http: fleet.http() }));
    await fleet.published('all');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, HOSTILE);
    await fleet.held('all', 'True');
    admin = adminToken(fleet.hub.kubeconfig);
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await fleet?.close();
  });

  /** @returns the page after a login, and what the browser complained about */
  const open = async (
    look: keyof typeof LOOKS = 'light',
    token = admin,
  ): Promise<readonly [Page, string[]]> => {
    const page = await (await browser.newContext(LOOKS[look])).newPage();
    await page.goto(url);
    await page.getByLabel('Token').fill(token);
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('dialog', () => complaints.push('a dialog'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();
    return [page, complaints];
  };
  const search = async (page: Page, text: string): Promise<void> => {
    await page.keyboard.press('/');
    await page.keyboard.type(text);
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
  };

  const SCREENS: readonly (readonly [name: string, path: string, seen: string])[] = [
    ['fleet', '/', '7 clusters, 2 placements'],
    ['where', '/?p=team-a/all', 'Where team-a/all runs'],
    ['moment', '/?t=9', 'added c1'],
    ['where-then', '/?p=team-a/web&t=9', 'team-a/web ran at'],
    ['placement', '/p/team-a/web', 'It asks for 2 clusters of set prod.'],
    ['held', '/p/team-a/all?cluster=c7', 'berth release team-a/all --token'],
    ['cluster', '/c/c5', 'What runs here, and why'],
    ['drain', '/change?drain=c5', 'What moves'],
    ['wrong', '/change?drain=nobody', 'no cluster has this name'],
  ];

  it.each(Object.keys(LOOKS) as (keyof typeof LOOKS)[])(
    'shows every screen without a complaint: %s',
    async (look) => {
      const [page, complaints] = await open(look);
      for (const [name, path, seen] of SCREENS) {
        await page.goto(`${url}${path}`);
        await page.getByText(seen).first().waitFor();
        await page.screenshot({ path: `${PICTURES}${name}-${look}.png`, fullPage: true });
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width, `${name} is wider than the window`).toBeLessThanOrEqual(LOOKS[look].viewport.width);
      }
      // The answer 400 of the wrong question is a line in the console of the browser.
      expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
      await page.context().close();
    },
  );

  it('answers four of the five questions by keyboard alone', async () => {
    const [page] = await open();
    await search(page, 'team-a/web');
    await page.getByRole('heading', { name: /2 of 7/ }).waitFor();
    // Why not there?
    await page.getByLabel('Why here, or why not?').fill('c7');
    await page.keyboard.press('Enter');
    await page
      .getByText(/taint disk/)
      .first()
      .waitFor();
    await search(page, 'drain c5');
    await page.getByText('c5 is drained').first().waitFor();
    await search(page, 'c5');
    await page.getByRole('link', { name: 'team-a/web' }).first().waitFor();
    const { at = '' } = (await fleet.until(async () => {
      const answer = await fetch(`${url}/ui/api/story`, { headers: { authorization: `Bearer ${admin}` } });
      const { steps } = (await answer.json()) as {
        readonly steps: readonly { readonly at: string; readonly step: string }[];
      };
      return steps.find(({ step }) => step === 'decision-moved');
    })) as { readonly at?: string };
    const time = await page.evaluate(`new Date('${at}').toTimeString().slice(0, 5)`);
    await search(page, String(time));
    await page.getByText('decision moved').first().waitFor();
    await page.context().close();
  });

  it('moves between squares by arrow keys, and back by the browser', async () => {
    const [page] = await open();
    await page.locator('a.square[tabindex="0"]').focus();
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
    const first = await focused();
    await page.keyboard.press('ArrowRight');
    await expect.poll(focused).not.toBe(first);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'What runs here, and why' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Placements' }).waitFor();
    // A proposal is also taken by the mouse.
    await page.keyboard.press('/');
    await page.keyboard.type('c6');
    await page.getByRole('option').first().click();
    await page.getByRole('heading', { name: 'c6' }).waitFor();
    await page.context().close();
  });

  it('replays the moves of the fleet by keyboard, and by itself', async () => {
    const [page] = await open();
    const bar = page.getByRole('slider', { name: 'Moment of the fleet' });
    const words = () => bar.getAttribute('aria-valuetext');
    const marked = page.getByRole('link', { name: 'the placement came here' });
    await bar.focus();
    expect(await words()).toMatch(/^Now, after 3 moves$/);
    await page.keyboard.press('Home');
    await expect.poll(words).toMatch(/: team-a\/(web|all) added c/);
    const first = await words();
    const count = await marked.count();
    expect(count).toBeGreaterThan(1);
    await page.keyboard.press('ArrowRight');
    await expect.poll(words).not.toBe(first);
    expect(await marked.count()).not.toBe(count);
    const address = page.url();
    expect(address).toContain('?t=20');
    const second = await words();
    await page.reload();
    await expect.poll(words).toBe(second);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await expect.poll(() => marked.count()).toBe(0);
    await page.evaluate(`
      globalThis.seen = [];
      const slider = document.querySelector('[type=range]');
      new MutationObserver(() => seen.push(slider.ariaValueText)).observe(slider, { attributeFilter: ['aria-valuetext'] });
    `);
    await page.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => page.evaluate('seen.at(-1)')).toMatch(/^Now/);
    expect(await page.evaluate('seen')).toEqual([
      first,
      second,
      expect.stringContaining('team-a/'),
      'Now, after 3 moves',
    ]);
    await page.context().close();
  });

  it('shows names and messages of others as text', async () => {
    const [page, complaints] = await open();
    await page.goto(`${url}/p/team-a/web`);
    await page.getByText(HOSTILE).first().waitFor();
    await page.goto(`${url}/c/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await page.goto(`${url}/change?drain=${encodeURIComponent(HOSTILE)}`);
    await page.getByText(HOSTILE).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints.filter((text) => !/40[04]/.test(text))).toEqual([]);
    await page.context().close();
  });

  it('is live: what changes is seen without a press', async () => {
    const [page] = await open();
    fleet.git.commit({ 'new.yaml': yaml(placement('new-one', { numberOfClusters: 1 })) });
    await fleet.published('new-one');
    await expect
      .poll(async () => {
        fleet.clock.skip(1_000);
        return page.getByText('new-one').count();
      })
      .toBeGreaterThan(0);
    await page.context().close();
  });

  it('shows a tenant his part, and lets nobody in with a wrong token', async () => {
    const [page] = await open('light', await tenantToken(fleet.hub.api, 'team-a'));
    await page.getByText('You see the namespaces whose placements you may get').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('the hub does not know this token').waitFor();
    await page.context().close();
  });

  it('approves what is held, after it said what that does', async () => {
    const [page, complaints] = await open();
    await page.goto(`${url}/p/team-a/all`);
    await page.getByRole('button', { name: 'Approve …' }).click();
    const question = page.getByRole('dialog', { name: 'Approve this change of team-a/all?' });
    await question.getByText('Approving takes team-a/all from c1, c2, c3, c4; it then runs on').waitFor();
    await page.screenshot({ path: `${PICTURES}approve-light.png` });
    // The first key does nothing that cannot be undone.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'hidden' });
    expect(await fleet.decisions('all')).toHaveLength(6);
    await page.getByRole('button', { name: 'Approve …' }).click();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Approve …' }).click();
    await question.getByRole('button', { name: 'Approve this change' }).click();
    await page.getByText('You approved it.').waitFor();
    await fleet.held('all', 'False');
    await expect
      .poll(async () => {
        fleet.clock.skip(1_000);
        return page.getByText('released by admin on the dashboard at').count();
      })
      .toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('offers no approval to somebody without the right', async () => {
    fleet.git.commit({ 'all.yaml': yaml(placement('all', { clusterSets: ['none'] })) });
    await fleet.held('all', 'True');
    const reader = await tenantToken(fleet.hub.api, 'team-a', { name: 'reader' });
    const [page] = await open('phone', reader);
    await page.goto(`${url}/p/team-a/all`);
    await page.getByText('You may not approve it').waitFor();
    expect(await page.getByRole('button', { name: 'Approve …' }).count()).toBe(0);
    await page.screenshot({ path: `${PICTURES}no-approval-phone.png`, fullPage: true });
    await page.context().close();
  });

  it('shows nobody what somebody else has seen in the same window', async () => {
    const [page] = await open('light', admin);
    await page.getByRole('link', { name: 'team-a/web' }).first().waitFor();
    // The session ends, and the page hears of it from an answer.
    await page.context().clearCookies();
    await page.keyboard.press('/');
    await page.keyboard.type('c');
    await page.getByLabel('Token').waitFor();
    await page.route('**/ui/api/fleet', () => undefined);
    await page.getByLabel('Token').fill(await tenantToken(fleet.hub.api, 'default'));
    await page.keyboard.press('Enter');
    await page.getByText('You see the namespaces whose placements you may get').waitFor();
    await page.getByText('Reading the fleet').waitFor();
    expect(await page.getByText('team-a').count()).toBe(0);
    await page.context().close();
  });
});
