import { parentPort } from 'node:worker_threads';
import type { SourceObject } from '@berth/kube/model/source-object';
import { SideDecider } from '../../core/preview/sides/side-decider.ts';
import { explainRecordMoves } from '../explanations/explain-record.ts';
import { ReceivedObjects, unpackSnapshot } from '../previews/bounded/numbered-objects.ts';
import { sentError } from '../previews/bounded/plan-messages.ts';
import type { SentQuestion } from './question-thread.ts';
import { planWhatIf } from './what-if-job.ts';

const [objects, declared] = [new ReceivedObjects(), new ReceivedObjects()];
const decider = new SideDecider({ staysFor: 'many plans' });

async function answer(question: SentQuestion): Promise<unknown> {
  if (question.kind === 'causes')
    return explainRecordMoves(question.historyDir, question.records, question.records);
  const hub = unpackSnapshot(question.hub, objects);
  const workloads = declared.unpack({ workloads: question.workloads }).workloads as readonly SourceObject[];
  return planWhatIf(question.job, hub, { workloads, decider });
}

/** Runs in a worker thread (see `QuestionThread`): answers each question, or says why it cannot. */
parentPort?.on('message', (question: SentQuestion) => {
  answer(question).then(
    (found) => parentPort?.postMessage({ found }),
    (error: unknown) => parentPort?.postMessage({ error: sentError(error) }),
  );
});
