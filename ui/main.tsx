import { render } from 'preact';
import { App } from './app.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/data.css';
import './views/gallery/gallery.css';
import './views/detail/detail.css';
import './views/capture/capture.css';
import './views/compare/compare.css';
import 'uplot/dist/uPlot.min.css';
import './views/operations/operations.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
