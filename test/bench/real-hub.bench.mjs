// Berth, a bare client and OCM's own controllers side by side on a real hub (etcd and kube-apiserver), in turns, each on a fresh one:
//   npm run build:modules && node test/bench/real-hub.bench.mjs [flags]
//     --placements 1000 --clusters 1000 --select 100   new placements, the fleet, and how many clusters each placement selects
//     --taints 10 --works 200 --rounds 1               0 taints or works: without those phases
//     --contestants bare,berth,ocm,ocm-defaults        also berth=CHECKOUT: another built checkout
//   A run of a minute: --placements 100 --clusters 100 --select 50 --taints 3 --works 20 --contestants bare,berth
// Phases: placements that are new; a taint on one cluster after the other, in a process that has just started; clusters that join one
// placement at once; works of five manifests until they are Applied and Available. Each line gives wall time, processor time (user and
// system, from /proc) of the contestant, the API server and etcd, and the writes that the server counted, without those of the driver.
// The programs are those of test/interop (docs/testing.md); what is not built is left out. BENCH_PROFILE=DIR writes CPU profiles there;
// BENCH_NODE_FLAGS='…' are further flags of Node for Berth and the bare client.
import { register } from 'node:module';
import { platform } from 'node:os';
import { parseArgs } from 'node:util';

register('./real-hub/typescript-hook.mjs', import.meta.url);
const { CONTROL_PLANE_PROGRAMS } = await import('../interop/peers/control-plane.ts');
const { hasPeers } = await import('../interop/peers/peer-programs.ts');
const { contestant, missingPrograms } = await import('./real-hub/contestants.mjs');
const { startFreshHub } = await import('./real-hub/fresh-hub.mjs');
const { contest } = await import('./real-hub/phases.mjs');

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({
  options: {
    placements: number(1000),
    clusters: number(1000),
    select: number(100),
    taints: number(10),
    works: number(200),
    rounds: number(1),
    contestants: { type: 'string', default: 'bare,berth,ocm,ocm-defaults' },
  },
});
const { contestants, rounds, ...sizeTexts } = values;
const sizes = Object.fromEntries(Object.entries(sizeTexts).map(([name, text]) => [name, Number(text)]));

if (platform() !== 'linux') throw new Error('processor times are read from /proc: this bench needs Linux');
if (!hasPeers(...CONTROL_PLANE_PROGRAMS)) process.exit(0);
const present = contestants.split(',').map(contestant).filter((one) => {
  const missing = missingPrograms(one);
  if (missing.length > 0) console.log(`${one.name} is left out: ${missing.join(', ')} found neither in the folder $BERTH_PEERS nor on the path`);
  return missing.length === 0;
});

const seconds = (ms) => (ms / 1000).toFixed(2).padStart(7);
console.log(`${JSON.stringify(sizes)}; seconds: wall, processor time of contestant, API server and etcd`);
for (let round = 1; round <= Number(rounds); round++)
  for (const one of present) {
    const hub = await startFreshHub();
    try {
      await contest(hub, one, sizes, ({ phase, wallMs, processorMs, writes, made, placements }) => {
        const { contestant: own, server, etcd } = processorMs;
        const where = placements === undefined ? '' : ` on ${placements} placements`;
        const times = [wallMs, own, server, etcd].map(seconds).join(' ');
        console.log(`${round} ${one.name.padEnd(13)} ${phase.padEnd(17)} ${times}  ${String(writes).padStart(6)} writes${where}${process.env.BENCH_WRITES ? ` ${JSON.stringify(made)}` : ''}`);
      });
    } finally {
      await hub.close();
    }
  }
