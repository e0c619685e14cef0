// How long a test of an add-on waits for its hub with a joined cluster, and for the end: `withHub` of @berth/addon/testing.
//   npm run build:modules && node test/bench/with-hub.bench.mjs [PROCESSES=5] [TESTS=20] [placements]
// With `placements` the hub also installs add-ons by placement. Each process runs that many tests one after the other, and each test reads one object. Prints medians and ranges: of the modules, of the
// first test of each process, and of all others.
import { execFileSync } from 'node:child_process';

const [processes = 5, tests = 20] = process.argv.slice(2, 4).map(Number);
const placements = process.argv[4] === 'placements';

/** Of each test: ms until the hub and its cluster are there, ms until all is closed, ms of processor time. */
async function runTests() {
  const startedAt = performance.now();
  const { withHub } = await import('../../.cache/modules/packages/addon/src/testing.js');
  const { NAMESPACE } = await import('../../.cache/modules/packages/kube/src/model/kinds.js');
  const loadMs = performance.now() - startedAt;
  const times = [];
  for (let test = 0; test < tests; test += 1) {
    const [at, cpu] = [performance.now(), process.cpuUsage()];
    let readyMs = 0;
    await withHub(async ({ hub }) => {
      await hub.get(NAMESPACE, { name: 'cluster1' });
      readyMs = performance.now() - at;
    }, { placements });
    const { user, system } = process.cpuUsage(cpu);
    times.push([readyMs, performance.now() - at, (user + system) / 1_000]);
  }
  console.log(JSON.stringify({ loadMs, times }));
}

function range(name, values) {
  const sorted = values.toSorted((a, b) => a - b);
  const text = (value) => `${value.toFixed(0)} ms`;
  console.log(`${name.padEnd(40)} ${text(sorted[Math.floor(sorted.length / 2)])} (${text(sorted[0])} to ${text(sorted.at(-1))})`);
}

if (process.env.BENCH_CHILD === '1') await runTests();
else {
  const env = { ...process.env, BENCH_CHILD: '1' };
  const args = [new URL(import.meta.url).pathname, String(processes), String(tests), ...(placements ? ['placements'] : [])];
  const runs = Array.from({ length: processes }, () => JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })));
  const groups = { 'first test': runs.map(({ times }) => times[0]), 'later tests': runs.flatMap(({ times }) => times.slice(1)) };
  range('modules loaded', runs.map(({ loadMs }) => loadMs));
  for (const [name, times] of Object.entries(groups))
    for (const [at, what] of ['hub and cluster', 'until all is closed', 'processor time'].entries())
      range(`${name}: ${what}`, times.map((values) => values[at]));
}
