import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { previewVerdict } from '../core/preview/comment/preview-outcome.ts';
import type { ChangeView } from '../core/dashboard/sight.ts';
import { mergeHtml } from '../core/preview/report/merge-line.ts';
import { reportSections } from '../core/preview/report/report-sections.ts';
import { useAnswer } from './answers.ts';
import { html } from './html.ts';

/** Signs that every font has. */
const SIGNS = { unchanged: '✓', changes: '→', stopped: '■', failed: '×' } as const;

/** `/change?pr=12`, `?commit=1a2b3c4`, `?drain=C`, `?lose=region:eu`, `?add=3`: what a merge, or an assumption, would do. The sections are the report's. */
export function ChangeScreen({ query }: { readonly query: URLSearchParams }): ComponentChildren {
  const isAsked = query.size > 0;
  const isMerge = query.has('pr') || query.has('commit');
  // A what-if is an answer of one moment. It is asked again when somebody asks.
  const { data, problem, isLoading } = useAnswer<ChangeView>(
    isAsked ? `/change?${query.toString()}` : undefined,
    isMerge,
  );
  const body = useMemo(() => data && bodyOf(data), [data]);
  const heading = data?.pullRequest?.title ?? data?.subject ?? [...query.values()].join(', ');
  return html`<h1>${isMerge ? '' : html`<small>What if </small>`}${heading}${isMerge ? '' : html`<small>?</small>`}</h1>
    ${data?.pullRequest === undefined ? '' : html`<p class="origin"><${Origin} of=${data} /></p>`}
    ${isAsked ? '' : html`<p>Type <code>drain NAME</code>, <code>lose region:eu</code>, <code>add 3</code>, <code>pr 12</code> or <code>commit 1a2b3c4</code> into the search box.</p>`}
    ${isLoading ? html`<p class="quiet" role="status">${isMerge ? 'Reading the plan …' : 'Deciding every placement again …'}</p>` : ''}
    ${problem === undefined ? '' : html`<p class="verdict failed">${problem}</p>`}
    ${
      body === undefined
        ? ''
        : html`<p class="verdict ${body.level}" role="status"><span aria-hidden="true">${SIGNS[body.level]}</span> ${body.text}</p>
      ${body.merge === '' ? '' : html`<p dangerouslySetInnerHTML=${{ __html: body.merge }} />`}
      <div class="report" dangerouslySetInnerHTML=${{ __html: body.sections }} />`
    }`;
}

function bodyOf(change: ChangeView) {
  const { outcome, approvals, pullRequest, isPart } = change;
  const { level, text } = previewVerdict(outcome, approvals);
  const merge = pullRequest === undefined || isPart === true ? '' : mergeHtml(outcome, change);
  return {
    // What stops the whole of it is not known from a part.
    ...(isPart === true
      ? { level: 'changes' as const, text: `Of what you may see: ${text}` }
      : { level, text }),
    ...{ merge, sections: reportSections(outcome, change).join('\n') },
  };
}

function Origin({ of: { subject, pullRequest } }: { readonly of: ChangeView }): ComponentChildren {
  const { url, authorName = '' } = pullRequest ?? {};
  const isWeb = url !== undefined && /^https?:\/\//i.test(url);
  return html`${isWeb ? html`<a href=${url} rel="noreferrer">${subject}</a>` : subject}${authorName === '' ? '' : ` by ${authorName}`}`;
}
