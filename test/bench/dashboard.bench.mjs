/**
 * The dashboard of `berth serve` beside `berth hub`, both as they are built, in headless Chromium: the first paint of the fleet, answers after a press,
 * frames while it scrolls, and what viewers cost the controller. The viewers are streams that do what a page does: they ask again when something changed,
 * one half for the fleet, the other half each for another placement.
 * Usage: npm run build:modules && node test/bench/dashboard.bench.mjs [CLUSTERS [PLACEMENTS [VIEWERS]]]
 * BENCH_CHROMIUM is the browser (/usr/bin/chromium). Each figure is the median of five.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { firstLine, startBerth } from './berth-child.mjs';
import { PreviewsRepository } from './gen-previews.mjs';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { MANAGED_CLUSTER } from '../../.cache/modules/packages/kube/src/model/kinds.js';
import { systemClock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';

const [clusters, placements, viewers] = [10_000, 1_000, 200].map((size, at) => Number(process.argv[at + 2] ?? size));
const MAIN = new URL('../../dist/src/app/cli/main.js', import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), 'berth-dashboard-'));
const origin = join(root, 'origin.git');
const PORT = 17_680;
const url = `http://127.0.0.1:${PORT}`;
const MEASURED_MS = Number(process.env.BENCH_MS ?? 60_000);
const TICKS_PER_SECOND = 100;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

new PreviewsRepository({ clusters, placements, files: placements, sets: 0 }).write(origin);
const hub = startBerth(MAIN, ['hub', '--data', join(root, 'hub'), '--listen', '127.0.0.1:0', '--log-level', 'error']);
const kubeconfig = await firstLine(hub);
const serve = startBerth(MAIN, [
  ...['serve', '--embedded', '--repo', origin, '--kubeconfig', kubeconfig, '--listen', `127.0.0.1:${PORT}`],
  ...['--data', join(root, 'berth'), '--log-level', 'error', '--removal-budget', '100%'],
]);
serve.child.stderr.pipe(process.stderr);
serve.child.stdout.resume();
const berth = (...args) => execFileSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) await pause(500);
const token = berth('dashboard', '--print-token', '--kubeconfig', kubeconfig).trim();
const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock });
const authorization = `Bearer ${token}`;
const readFleet = async () => (await fetch(`${url}/ui/api/fleet`, { headers: { authorization } })).json();
let fleet = await readFleet();
while (fleet.placements.filter((one) => one.clusters > 0).length < placements) (await pause(1_000), (fleet = await readFleet()));
const { namespace, name } = fleet.placements[0];
const [cluster] = fleet.clusters[Math.floor(fleet.clusters.length / 2)];
console.log(`${fleet.clusters.length} clusters x ${fleet.placements.length} placements, ${viewers} viewers, Node.js ${process.version}`);

await inBrowser();
await viewersCost();
api.close();
await serve.stop();
await hub.stop();
rmSync(root, { recursive: true, force: true });

async function inBrowser() {
  const executablePath = process.env.BENCH_CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  await page.goto(url);
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.locator('a.square').first().waitFor();
  const timed = async (what, path, ready) => {
    const took = [];
    for (let run = 0; run < 5; run++) {
      const begun = performance.now();
      await page.goto(`${url}${path}`);
      await ready().first().waitFor({ timeout: 120_000 });
      took.push(performance.now() - begun);
    }
    console.log(`${what}: ${median(took).toFixed(0)} ms (first ${took[0].toFixed(0)} ms)`);
  };
  await timed('the fleet, until its squares are seen', '/', () => page.locator('a.square'));
  const frames = await page.evaluate(
    `new Promise((done) => {
      const box = document.querySelector('.map .rows'), begun = performance.now();
      let frames = 0;
      const draw = (now) => {
        frames++;
        box.scrollTop += 25;
        if (now - begun < 3000) requestAnimationFrame(draw);
        else done(frames / 3);
      };
      requestAnimationFrame(draw);
    })`,
  );
  console.log(`frames a second while the squares scroll: ${frames.toFixed(0)}`);
  await timed('a placement, until its table is seen', `/p/${namespace}/${name}`, () => page.locator('table.decision, .decided article'));
  await timed('why not on a cluster', `/p/${namespace}/${name}?cluster=${cluster}`, () => page.locator('pre.answer'));
  await timed('a cluster', `/c/${cluster}`, () => page.getByText('What runs here, and why'));
  // The same question again is answered from memory, so each drains another cluster.
  const took = [];
  for (let run = 0; run < 5; run++) {
    const begun = performance.now();
    await page.goto(`${url}/change?drain=${fleet.clusters[run * 7][0]}`);
    await page.locator('p.verdict').waitFor({ timeout: 120_000 });
    took.push(performance.now() - begun);
  }
  console.log(`what if a cluster is drained: ${median(took).toFixed(0)} ms (first ${took[0].toFixed(0)} ms)`);
  await browser.close();
}

/** Processor time of the controller while a label of a cluster changes every five seconds, without viewers and with them. */
async function viewersCost() {
  const alone = await measured();
  let asked = 0;
  let bytes = 0;
  const agent = new http.Agent({ keepAlive: true, maxSockets: viewers });
  const ask = (path, headers, use) =>
    http.get(`${url}${path}`, { agent, headers: { authorization, 'accept-encoding': 'gzip', ...headers } }, use).on('error', () => undefined);
  // One user may have twenty pages open.
  const tokens = Array.from({ length: Math.ceil(viewers / 20) }, (_, at) => {
    const text = berth('hub', 'kubeconfig', '--data', join(root, 'hub'), '--user', `viewer-${at}`, '--group', 'system:masters');
    return /token: (\S+)/.exec(text)[1];
  });
  const streams = Array.from({ length: viewers }, (_, number) => {
    const authorization = `Bearer ${tokens[number % tokens.length]}`;
    let tag = '';
    const { namespace, name } = fleet.placements[number];
    const path = number % 2 === 0 ? '/ui/api/fleet' : `/ui/api/placements/${namespace}/${name}`;
    const again = () =>
      ask(path, { authorization, 'if-none-match': tag }, (response) => {
        asked++;
        tag = response.headers.etag ?? tag;
        response.on('data', (chunk) => (bytes += chunk.length));
      });
    return http
      .get(`${url}/ui/events`, { headers: { authorization } }, (response) => response.on('data', (chunk) => String(chunk).startsWith('event') && setTimeout(again, Math.random() * 1_500)))
      .on('error', () => undefined);
  });
  await pause(5_000);
  const watched = await measured();
  for (const stream of streams) stream.destroy();
  const share = (ms) => `${((ms / MEASURED_MS) * 100).toFixed(1)} %`;
  console.log(`the controller alone: ${share(alone)} of a core; with ${viewers} viewers: ${share(watched)}; they asked ${asked} times, ${(bytes / 1e6).toFixed(0)} MB`);
}

async function measured() {
  const before = cpuMs();
  const end = Date.now() + MEASURED_MS;
  for (let number = 0; Date.now() < end; number++) {
    await patchLabel(number);
    await pause(5_000);
  }
  return cpuMs() - before;
}

async function patchLabel(number) {
  await api.mergePatch(MANAGED_CLUSTER, { namespace: '', name: cluster }, { metadata: { labels: { bench: `${number}` } } });
}

/** Milliseconds of processor time of the controller's process. */
function cpuMs() {
  const fields = readFileSync(`/proc/${serve.child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}
