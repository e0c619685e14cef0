import type { ApiAddress, ApiClient } from '../../../interop/peers/api-client.ts';
import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import type { Hook, HookServer } from '../../../fakes/hook-server.ts';
import { normalizedStep } from './normalized-step.ts';
import { readStream } from './read-stream.ts';

/** One request to the API server, or a change of what the webhooks answer. */
export interface Step {
  readonly call?: readonly [method: string, path: string];
  readonly body?: LooseJson;
  /** Media type of the body. */
  readonly type?: string;
  /** Sent as this user, without groups of its own; default: as the administrator. */
  readonly as?: string;
  /** From now on, this step included. */
  readonly hook?: Hook;
  /** Reads this many lines of the stream and ends it. */
  readonly lines?: number;
  /** Prepares something: its answer is not compared. */
  readonly silent?: true;
  /** Sends the same again until a server that works in the background answers so. */
  readonly until?: (answer: LooseJson, status: number) => boolean;
}

export interface Scenario {
  readonly name: string;
  /** What is asked is not compared: caches of a real server ask for themselves, when they like. */
  readonly withoutCalls?: true;
  /** Webhooks are asked at the same time, so that what is asked comes in any order. */
  readonly atOnce?: true;
  readonly steps: (hook: HookServer) => readonly Step[];
}

/** What a step led to: the answer, and what the webhooks were asked meanwhile. */
export interface StepResult {
  readonly step: string;
  readonly status: number;
  readonly body: LooseJson;
  readonly warnings?: readonly string[];
  readonly asked?: readonly LooseJson[];
}

export interface ScenarioServer extends ApiAddress {
  readonly client: ApiClient;
  /** Requests as another user; needed where a step says `as`. */
  readonly clientOf?: (user: string) => ApiClient;
  /** Waits until the server has noticed changed definitions and configurations. */
  settled(): Promise<void>;
}

/** Steps that a server notices in the background. */
export const CONFIGURATION =
  /customresourcedefinitions|webhookconfigurations|validatingadmissionpolic|\/services|\/namespaces(\/[^/]+)?$/;

/** Runs the steps in order; what is compared is stripped of identities and times. */
export async function runScenario(
  server: ScenarioServer,
  hook: HookServer,
  { steps, withoutCalls, atOnce }: Scenario,
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  hook.taken();
  for (const step of steps(hook)) {
    if (step.hook !== undefined) hook.answers(step.hook);
    if (step.call === undefined) continue;
    const [method, path] = step.call;
    hook.taken();
    const answer = await send(server, step);
    const asked = hook.taken();
    if (atOnce === true) asked.sort((one, two) => (one.path < two.path ? -1 : 1));
    if (method !== 'GET' && CONFIGURATION.test(path.split('?')[0] ?? '')) await server.settled();
    if (step.silent === true) {
      if (answer.status >= 400 && method !== 'DELETE' && step.until === undefined)
        throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      continue;
    }
    const subject = step.as === undefined ? '' : ` as ${step.as}`;
    results.push(
      normalizedStep(`${method} ${path}${subject}`, { ...answer, asked: withoutCalls ? [] : asked }, hook),
    );
  }
  return results;
}

type Answer = Awaited<ReturnType<ApiClient['call']>>;

async function send(server: ScenarioServer, step: Step): Promise<Answer> {
  const [method, path] = step.call as [string, string];
  if (step.lines !== undefined) {
    const { status, lines } = await readStream(server, path, step.lines);
    return { status, body: lines, warnings: [] };
  }
  const client = step.as === undefined ? server.client : (server.clientOf?.(step.as) ?? server.client);
  for (;;) {
    const answer = await client.call(method, path, step.body, step.type);
    if (step.until === undefined || step.until(answer.body, answer.status)) return answer;
  }
}
