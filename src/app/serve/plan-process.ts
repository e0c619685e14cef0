import { KeptBases } from '../../controllers/previews/compared-commits.ts';
import { FrameReader, frameOf } from '../../controllers/previews/bounded/frames.ts';
import {
  type NumberedObjects,
  ReceivedObjects,
  ReceivedLists,
  type SentList,
  unpackSnapshot,
} from '../../controllers/previews/bounded/numbered-objects.ts';
import { type PlanJob, ParentKubeApi, ParentTrials } from '../../controllers/previews/bounded/plan-job.ts';
import {
  type HubResponse,
  type HubRead,
  type PlannerMessage,
  receivedError,
  sentError,
} from '../../controllers/previews/bounded/plan-messages.ts';
import { RenderedSets } from '../../controllers/previews/rendered-sets.ts';
import { planRevisions } from '../../controllers/previews/plan-revisions.ts';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import { LastLists } from '@berth/runtime/lists/once-per-list';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import { SourceChecker } from '../../core/sources/check-sources.ts';
import { applicationContext } from '../generator-inputs/plan-inputs.ts';

/*
 * The program of a planning process (controllers/previews/bounded/planning-process.ts). It receives a
 * job and then the responses of the hub. It sends requests to the hub and, at the end, the plan. Then
 * it receives the next job.
 */
const outputBytes = Number(process.argv[2]);
const waiting = new Map<number, (response: HubResponse) => void>();
const frames = new FrameReader(0xffff_ffff);
const objects = new ReceivedObjects();
const lists = new ReceivedLists();
const bases = new KeptBases();
const decider = new SideDecider({ staysFor: 'many plans' });
const rendered = new RenderedSets();
const baseLists = new LastLists<ParsedManifest>();
const checker = new SourceChecker();
let requests = 0;

function send(message: PlannerMessage): void {
  const frame = frameOf(message);
  // For a message that is too large only its length is sent, and the parent stops this process.
  process.stdout.write(frame.length > outputBytes ? frame.subarray(0, 4) : frame);
}

function readHub(read: HubRead): Promise<unknown> {
  const id = ++requests;
  return new Promise((resolve, reject) => {
    waiting.set(id, (response) => {
      if ('error' in response) reject(receivedError(response.error));
      else resolve(received(read, response.value));
    });
    send({ type: 'read-hub', id, read });
  });
}

async function headsOf(kind: KindInfo): Promise<readonly KubeObject[] | undefined> {
  return (await readHub({ method: 'heads', kind })) as readonly KubeObject[] | undefined;
}

function received(read: HubRead, value: unknown): unknown {
  if (read.method === 'list') return lists.unpack(read, value as SentList);
  return read.method === 'heads' ? lists.unpackHeads(read, value as NumberedObjects | undefined) : value;
}

async function plan({ input, hub, applications, budgets, server, mayTry }: PlanJob): Promise<void> {
  try {
    const snapshot = hub && unpackSnapshot(hub, objects);
    bases.beginPlan();
    const planned = await planRevisions({
      ...input,
      hub: snapshot,
      applications: applications && {
        ...applicationContext(applications.argocdNamespace, applications.onHub),
        hasReasons: applications.hasReasons,
      },
      budgetOf: ({ metadata }) => budgets.get(namespacedName(metadata)),
      ...(server !== undefined && { hubApi: new ParentKubeApi(server, readHub), headsOf }),
      trials: mayTry ? new ParentTrials(readHub) : undefined,
      memory: { bases, checker, decider, rendered, baseLists },
      onProgress: () => undefined,
    });
    send({ type: 'planned', planned });
  } catch (error) {
    send({ type: 'failed', error: sentError(error) });
  }
}

process.stdin.on('data', (chunk: Buffer) => {
  const messages = frames.push(chunk);
  if (messages === 'too-large') return;
  for (const message of messages as readonly (PlanJob | HubResponse)[]) {
    if (message.type === 'plan') void plan(message);
    else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  }
});
// The controller ended, or no longer needs this process.
process.stdin.on('end', () => process.exit(0));
