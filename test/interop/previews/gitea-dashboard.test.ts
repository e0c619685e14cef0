import { mkdirSync } from 'node:fs';
import { findProgram } from '@berth/test-kit/needed-program';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminToken, tenantToken } from '../../app/serve/dashboard/dashboard-client.ts';
import { placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { hasGiteaModule } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { asks, GiteaFleet } from './gitea-fleet.ts';

const program = findProgram('chromium');
/** Pictures for people to look at. */
const PICTURES = new URL('../../../.cache/pictures/', import.meta.url).pathname;
const NOWHERE = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } }],
};

/** What a reader sees of Markdown: no mark-up, one space between words. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/[`*#]|\u200b/g, '')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll('&gt;', '>')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** The rows of the table of moves in a comment: placement, what happens, why. */
function movesIn(body: string): readonly (readonly string[])[] {
  const rows = body.split('\n').filter((line) => /^\| (🔴 |🟡 )?`/u.test(line));
  return rows.map((row) => {
    const cells = row
      .slice(1, -1)
      .split('|')
      .map((cell) => plain(cell).replace(/^(🔴|🟡) /u, ''));
    return [cells[0] ?? '', cells[1] ?? '', cells.at(-1) ?? ''];
  });
}

/** The page of a change says what the comment on the pull request says: of one plan, before and after the merge. */
describe.skipIf(program === undefined || !hasPeers('gitea') || !hasGiteaModule())(
  'the page of a pull request of a real Gitea',
  () => {
    let forge: GiteaFleet;
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];
    beforeAll(async () => {
      mkdirSync(PICTURES, { recursive: true });
      forge = await GiteaFleet.create();
      browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] });
      page = await opened(adminToken(forge.fleet.hub.kubeconfig));
    });
    beforeEach(() => forge.begin());
    afterAll(async () => {
      await browser?.close();
      await forge?.close();
    });

    const opened = async (token: string, look: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
      // The cookie of a session travels by TLS only, which a proxy has in front of this controller.
      const extraHTTPHeaders = { authorization: `Bearer ${token}` };
      const context = await browser.newContext({ ...look, extraHTTPHeaders });
      const one = await context.newPage();
      one.on('pageerror', ({ message }) => complaints.push(message));
      one.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      return one;
    };
    const show = (query: string) => page.goto(`${forge.url}/change?${query}`);
    const textOf = async (selector: string): Promise<string> =>
      plain((await page.locator(selector).first().innerText()).replace(/^[✓→■×] /u, ''));
    const moves = async () => {
      const rows = page.locator('section:has(h2:text-is("What moves")) tbody tr');
      const cells = await rows.evaluateAll((all) =>
        all.map((row) =>
          [...row.children].map((cell) => {
            const [first = ''] = cell.innerHTML.split('<br>');
            return first;
          }),
        ),
      );
      return cells.map((row) => [0, 1, 3].map((at) => plain((row[at] ?? '').replaceAll(/<[^>]*>/g, ''))));
    };
    const agrees = async (body: string): Promise<void> => {
      const [, verdict = ''] = /^### \S+ Berth: (.*)$/m.exec(body) ?? [];
      const [, may = ''] = /^\*\*May I merge\?\*\* (.*)$/m.exec(body) ?? [];
      expect(plain(verdict)).not.toBe('');
      await expect.poll(() => textOf('.verdict')).toBe(plain(verdict));
      expect(await textOf('p:has(strong:text-is("May I merge?"))')).toBe(`May I merge? ${plain(may)}`);
      expect(await moves()).toEqual(movesIn(body));
      const [command] = /\/berth approve [0-9a-f]{12}/.exec(body) ?? [];
      expect(await page.getByText('/berth approve').count()).toBe(command === undefined ? 0 : 1);
      if (command !== undefined) await page.getByText(command).waitFor();
    };

    it('says what the comment says, and follows a push', async () => {
      forge.push('grow', { ...asks(2), ...asks(3, 'api') });
      const number = await forge.open('grow', { title: 'Grow <b>web</b>' });
      const { body } = await forge.comment(number, '+4 clusters');
      await show(`pr=${number}`);
      await page.getByRole('heading', { name: 'Grow <b>web</b>' }).waitFor();
      await page.getByText(`root/fleet#${number}`).first().waitFor();
      await agrees(body);
      await page.screenshot({ path: `${PICTURES}change-pr-light.png`, fullPage: true });
      const head = forge.push('grow', asks(4));
      const second = await forge.comment(number, '+3 clusters');
      // Without a press: the page hears of the new plan.
      await expect
        .poll(async () => {
          forge.fleet.clock.skip(1_000);
          return textOf('.verdict');
        })
        .toContain('+3 clusters');
      await agrees(second.body);
      await show(`commit=${head.slice(0, 10)}`);
      await agrees(second.body);
      await show('commit=0123456789');
      await page.getByText('no pull request').waitFor();
      await forge.edit(number, { state: 'closed' });
    });

    it('says what is held, who approved it, and what the merge did', async () => {
      forge.push('empty', { 'web.yaml': yaml(placement('web', NOWHERE)) });
      const number = await forge.open('empty');
      const held = await forge.comment(number, 'would be held');
      await show(`pr=fleet/${number}`);
      await agrees(held.body);
      expect(await moves()).toEqual([
        [expect.anything(), expect.stringMatching(/^stays on c1; if approved: /), expect.anything()],
      ]);
      // The comment approves it, so no other way is shown.
      expect(await page.getByText('berth release').count()).toBe(0);
      await page.screenshot({ path: `${PICTURES}change-held-light.png`, fullPage: true });
      const dark = await opened(adminToken(forge.fleet.hub.kubeconfig), {
        colorScheme: 'dark',
        viewport: { width: 375, height: 740 },
      });
      await dark.goto(`${forge.url}/change?pr=${number}`);
      await dark.getByText('Held until somebody approves it').waitFor();
      await dark.screenshot({ path: `${PICTURES}change-held-phone-dark.png`, fullPage: true });
      const merged = await forge.merge(number);
      const { body } = await forge.comment(number, '**Merged. 1 change is held and not applied:');
      await expect
        .poll(async () => {
          forge.fleet.clock.skip(1_000);
          return textOf('p:has(strong:text-is("Merged"))');
        })
        .toBe(`Merged as ${merged.slice(0, 12)}. 1 change is held and not applied: team-a/web stays on c1.`);
      expect(await page.getByText('May I merge?').count()).toBe(0);
      const [command = ''] = /\/berth approve [0-9a-f]{12}/.exec(body) ?? [];
      await page.getByText(command).waitFor();
      await forge.say(number, command, 'grace');
      await forge.comment(number, 'released by grace on root/fleet');
      await expect
        .poll(async () => {
          forge.fleet.clock.skip(1_000);
          return textOf('p:has(strong:text-is("Merged"))');
        })
        .toBe(`Merged as ${merged.slice(0, 12)}. As the plan said.`);
      await page.getByText('Held by the plan, and not any more').waitFor();
      expect(await page.getByText('/berth approve').count()).toBe(0);
      await show(`commit=${merged}`);
      await page.getByText('As the plan said').waitFor();
      await page.screenshot({ path: `${PICTURES}change-merged-light.png`, fullPage: true });
    });

    it('gives no verdict to somebody who sees a part of it', async () => {
      forge.push('part', asks(2));
      const number = await forge.open('part');
      await forge.comment(number, '+1 cluster');
      const tenant = await opened(await tenantToken(forge.fleet.hub.api, 'team-a'));
      await tenant.goto(`${forge.url}/change?pr=${number}`);
      await tenant.getByText(/Of what you may see: .*\+1 cluster/).waitFor();
      expect(await tenant.getByText('May I merge?').count()).toBe(0);
      await forge.edit(number, { state: 'closed' });
    });

    it('makes the browser complain of nothing', () => {
      // The answer to a commit that no pull request has is a line in its console.
      expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
    });
  },
);
