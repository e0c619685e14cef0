import { ParentKubeApi } from '../../controllers/previews/bounded/parent-kube-api.ts';
import { FrameReader, frameOf } from '../../controllers/previews/bounded/frames.ts';
import {
  type HubAnswer,
  type HubRead,
  type PlanJob,
  type PlannerMessage,
  receivedError,
  sentError,
} from '../../controllers/previews/bounded/plan-messages.ts';
import { planRevisions } from '../../controllers/previews/plan-revisions.ts';
import { namespacedName } from '../../core/model/object-ref.ts';
import { applicationContext } from '../worlds/argo-part.ts';

/**
 * Runs in a process of its own (controllers/previews/bounded/plan-in-process.ts). It receives a job
 * and responses of the hub, and sends requests for the hub and finally the plan.
 */
const outputBytes = Number(process.argv[2]);
const waiting = new Map<number, (answer: HubAnswer) => void>();
const frames = new FrameReader(0xffff_ffff);
let asked = 0;
let started = false;

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
      else resolve(answer.value);
    });
    send({ type: 'ask', id, read });
  });
}

async function plan({ input, applications, budgets, server }: PlanJob): Promise<void> {
  try {
    const planned = await planRevisions({
      ...input,
      applications: applications && applicationContext(applications.argocdNamespace, applications.onHub),
      budgetOf: ({ metadata }) => budgets.get(namespacedName(metadata)),
      hubApi: server === undefined ? undefined : new ParentKubeApi(server, ask),
      tell: () => undefined,
    });
    send({ type: 'planned', planned });
  } catch (error) {
    send({ type: 'failed', error: sentError(error) });
  }
}

process.stdin.on('data', (chunk: Buffer) => {
  const messages = frames.push(chunk);
  if (messages === 'too-large') return;
  for (const message of messages) {
    if (!started) {
      started = true;
      void plan(message as PlanJob);
      continue;
    }
    const answer = message as HubAnswer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  }
});
// The controller has exited, or has the plan.
process.stdin.on('end', () => process.exit(0));
