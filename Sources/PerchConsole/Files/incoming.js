// What came from Apple.
import { h, session, Page, missing } from './kit.js';

class IncomingPage extends Page {
  async open() {
    this.append(h('h1', {}, 'Incoming'), h('p.what', {}, 'Reports of the App Store: received, waiting, and refused.'));
    const place = h('div');
    this.append(place);
    let hasIngest = false;
    try { hasIngest = await session.has('perch.v1.IngestService'); } catch { /* said below */ }
    if (this.ended) return;
    place.append(hasIngest ? missing('This server takes reports of the App Store. The console does not show them yet: `perch dead-letters` lists what was refused.')
      : missing('This server takes no reports from the App Store, so there is nothing to show. It is a test store: Perch itself makes the facts.'));
  }
}

customElements.define('perch-incoming-page', IncomingPage);
