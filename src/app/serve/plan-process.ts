import { ParentKubeApi } from '../../controllers/previews/bounded/parent-kube-api.ts';
import { FrameReader, frameOf } from '../../controllers/previews/bounded/frames.ts';
import {
  type NumberedObjects,
  ReceivedObjects,
} from '../../controllers/previews/bounded/numbered-objects.ts';
import type { PlanJob } from '../../controllers/previews/bounded/plan-job.ts';
import {
  type HubAnswer,
  type HubRead,
  type PlannerMessage,
  receivedError,
  sentError,
} from '../../controllers/previews/bounded/plan-messages.ts';
import { RememberedFiles } from '../../controllers/previews/bounded/remembered-files.ts';
import { ReceivedLists, type SentList } from '../../controllers/previews/bounded/sent-lists.ts';
import { unpackSnapshot } from '../../controllers/previews/bounded/sent-snapshot.ts';
import { RenderedSets } from '../../controllers/previews/rendered-sets.ts';
import { planRevisions } from '../../controllers/previews/plan-revisions.ts';
import type { KindInfo } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { namespacedName } from '../../core/model/object-ref.ts';
import type { ParsedManifest } from '../../adapters/yaml/parse-manifests.ts';
import { LastLists } from '../../core/once-per-list.ts';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import { SourceChecker } from '../../core/sources/source-checker.ts';
import { applicationContext } from '../generator-inputs/argo-part.ts';

/*
 * Runs in a process of its own (controllers/previews/bounded/planning-process.ts): a job comes in, then answers of the hub; questions to
 * the hub go out, and at the end the plan. Then comes the next job.
 */
const outputBytes = Number(process.argv[2]);
const waiting = new Map<number, (answer: HubAnswer) => void>();
const frames = new FrameReader(0xffff_ffff);
const objects = new ReceivedObjects();
const lists = new ReceivedLists();
const files = new RememberedFiles();
const decider = new SideDecider({ staysFor: 'many plans' });
const rendered = new RenderedSets();
const baseLists = new LastLists<ParsedManifest>();
const checkers = new Map<string, SourceChecker>();
let asked = 0;

function send(message: PlannerMessage): void {
  const frame = frameOf(message);
  // For a message that is too large only its length is sent, and the parent stops this process.
  process.stdout.write(frame.length > outputBytes ? frame.subarray(0, 4) : frame);
}

function ask(read: HubRead): Promise<unknown> {
  const id = ++asked;
  return new Promise((resolve, reject) => {
    waiting.set(id, (answer) => {
      if ('error' in answer) reject(receivedError(answer.error));
      else resolve(received(read, answer.value));
    });
    send({ type: 'ask', id, read });
  });
}

async function headsOf(kind: KindInfo): Promise<readonly KubeObject[] | undefined> {
  return (await ask({ method: 'heads', kind })) as readonly KubeObject[] | undefined;
}

function received(read: HubRead, value: unknown): unknown {
  if (read.method === 'list') return lists.unpack(read, value as SentList);
  return read.method === 'heads' ? lists.unpackHeads(read, value as NumberedObjects | undefined) : value;
}

function checkerOf(source: string): SourceChecker {
  const known = checkers.get(source) ?? new SourceChecker();
  checkers.set(source, known);
  return known;
}

async function plan({ input, hub, applications, budgets, server }: PlanJob): Promise<void> {
  try {
    const snapshot = hub && unpackSnapshot(hub, objects);
    files.turn();
    const planned = await planRevisions({
      ...input,
      hub: snapshot,
      applications: applications && applicationContext(applications.argocdNamespace, applications.onHub),
      budgetOf: ({ metadata }) => budgets.get(namespacedName(metadata)),
      ...(server !== undefined && { hubApi: new ParentKubeApi(server, ask), headsOf }),
      memory: { files, checkerOf, decider, rendered, baseLists },
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
  for (const message of messages as readonly (PlanJob | HubAnswer)[]) {
    if (message.type === 'plan') void plan(message);
    else {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  }
});
// The controller is gone, or needs it no more.
process.stdin.on('end', () => process.exit(0));
