import { render } from 'preact';
import { App } from './app.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/data.css';
import './views/gallery/gallery.css';
import './views/detail/detail.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
